import StoreFiles
package import SystemPackage

/// The traces that fstat(2) tells of a store and its log without opening them: if two are equal, and the first was settled, no commit was
/// written in between. One that was written before may be seen only later: `SourceStore.hasCommitUnderWay` tells.
///
/// A commit writes to the log or to the store's file, which changes that file's time. `StoreState` says more, and opens the store: whoever
/// opens it at each notice of a change makes notices himself.
package struct StoreTraces: Hashable, Sendable {
    private let store: FileTrace?
    private let log: FileTrace?
    /// Whether a write from now on would have changed them.
    package let isSettled: Bool

    /// The store's file, and its log, of an absolute path without symbolic links.
    package static func files(of path: FilePath) -> [FilePath] { [path, Sidecars.log(of: path)] }

    /// Reads them now, of an absolute path without symbolic links.
    package init(of path: FilePath) {
        let now = PlatformCalls.timeOfDay
        let files = Self.files(of: path).map { try? PlatformCalls.status(of: $0) }
        (store, log) = (files[0].map(FileTrace.init), files[1].map(FileTrace.init))
        isSettled = files.allSatisfy { $0?.isSettled(at: now) != false }
    }

    /// Reads them of what never changes in its place.
    package init(ofUnchanging path: FilePath) {
        (store, log, isSettled) = ((try? PlatformCalls.status(of: path)).map(FileTrace.init), nil, true)
    }

    package static func == (left: Self, right: Self) -> Bool { left.store == right.store && left.log == right.log }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(store)
        hasher.combine(log)
    }
}
