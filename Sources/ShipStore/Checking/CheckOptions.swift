public import StoreServing
public import SystemPackage

/// How the stores of shipments are checked before anybody reads them.
public struct CheckOptions: Hashable, Sendable {
    public var limits = CheckLimits()
    public var place = Place.thisProcess

    /// Where SQLite meets a store that nobody vouches for.
    public enum Place: Hashable, Sendable {
        /// Here. The deadline holds between two instructions of SQLite's virtual machine, and the limit of memory not at
        /// all.
        case thisProcess
        /// In a process of its own, which has nothing, may do nothing, and is killed when its time is over.
        ///
        /// The program is started with `CheckerProcess.command` as its only argument, and must then do nothing but
        /// call `CheckerProcess.run()`.
        case childProcess(program: FilePath)
    }

    public init() {}
}
