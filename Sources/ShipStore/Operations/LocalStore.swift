public import StoreBases
public import SystemPackage

/// A store of this device, and what can be done to it as a whole: kept as a copy, restored, moved, destroyed. Others may
/// have it open meanwhile.
public struct LocalStore: Sendable {
    public let path: FilePath
    /// How copies of it are taken, and how long to wait for others who use it.
    public let options: CopyOptions
    /// Where copies of it may be remembered that receivers have acknowledged: they go with it, and follow it; `nil` for nowhere.
    public let memory: BaseMemory?

    public init(_ path: FilePath, options: CopyOptions = CopyOptions(), memory: BaseMemory? = nil) {
        self.path = path
        self.options = options
        self.memory = memory
    }
}
