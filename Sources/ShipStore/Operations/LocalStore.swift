public import SystemPackage

/// A store of this device, and what can be done to it as a whole: kept as a copy, restored, moved, destroyed. Others may
/// have it open meanwhile.
public struct LocalStore: Sendable {
    public let path: FilePath
    /// How copies of it are taken, and how long to wait for others who use it.
    public let options: CopyOptions

    public init(_ path: FilePath, options: CopyOptions = CopyOptions()) {
        self.path = path
        self.options = options
    }
}
