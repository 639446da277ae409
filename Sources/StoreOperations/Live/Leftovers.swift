public import SystemPackage

/// The files that a restore has left behind: one that failed in a way that looks like success until the store is opened again, or one that
/// could not tidy up.
public struct Leftovers: Hashable, Sendable {
    /// A copy of the store as it was.
    public var safetyCopy: FilePath?
    /// External files of the copy, which the store does not refer to.
    public var externalFiles: [FilePath]

    package init(safetyCopy: FilePath?, externalFiles: [FilePath]) {
        self.safetyCopy = safetyCopy
        self.externalFiles = externalFiles
    }

    package var isEmpty: Bool { safetyCopy == nil && externalFiles.isEmpty }
}
