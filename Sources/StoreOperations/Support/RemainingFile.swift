public import SystemPackage

/// A file in the support folder of a store that has gone, or of a state of it that has, which stays because it is not proven to be unused.
public struct RemainingFile: Hashable, Sendable {
    public let path: FilePath
    public let reason: Reason

    package init(_ path: FilePath, _ reason: Reason) {
        self.path = path
        self.reason = reason
    }

    public enum Reason: Hashable, Sendable {
        /// Another store of the same stem refers to it.
        case usedBy(FilePath)
        /// No store of that stem refers to it.
        case unexplained
        /// The files that this store refers to cannot be found out: it may be this file.
        case unreadable(FilePath)
        /// The state of the store that refers to it may still have readers; the next restore removes it.
        case stillRead
    }
}
