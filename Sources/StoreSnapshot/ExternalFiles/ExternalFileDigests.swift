import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage

/// The digests of the external files of a store that is copied again and again: a file that is as it was when it was read last is not
/// read again.
///
/// It is so by what tells a follower that the store's own files are (`FileTrace`), from when on a write would change that.
package final class ExternalFileDigests: Sendable {
    private struct Key: Hashable {
        let name: ExternalFileName
        let trace: FileTrace
    }

    private let known = Mutex<[Key: ContentDigest]>([:])

    package init() {}

    /// The digests of the files of a copy, in their order. Those that are in no copy any more are forgotten.
    ///
    /// - Throws: `.canceled` once `isCancelled` returns `true`.
    func digests(
        of files: [(name: ExternalFileName, size: Int64, path: FilePath)], unless isCancelled: () -> Bool
    ) throws(FileError) -> [ContentDigest] {
        let before = known.withLock { $0 }
        var digests: [ContentDigest] = []
        var now: [Key: ContentDigest] = [:]
        for file in files {
            let status = try PlatformCalls.status(of: file.path)
            let key = Key(name: file.name, trace: FileTrace(status))
            let digest =
                if let digest = before[key] { digest } else {
                    try ContentDigest(ofFile: file.path, unless: isCancelled)
                }
            if status.isContentSettled(at: PlatformCalls.timeOfDay) { now[key] = digest }
            digests.append(digest)
        }
        known.withLock { [now] in $0 = now }
        return digests
    }
}
