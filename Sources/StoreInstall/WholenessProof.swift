import ShipProtocol
import StoreFiles
package import StoreInbox
import Synchronization

/// All of a generation was read, and is what its manifest says.
struct WholenessProof {
    /// For so long it counts, if no file has changed: flaws of a medium do not show in what a file system says.
    static let validity = Duration.seconds(600)

    fileprivate let files: [FileStatus]
    fileprivate let time: ContinuousClock.Instant
}

extension Installer {
    /// Whether a generation may be told to be there: whoever sends a store again, because the copy is damaged, gets it mended.
    ///
    /// All of it is read, but not at each new connection of a sender that follows.
    package func isWhole(_ generation: Generation) -> Bool {
        let name = generation.manifest.name
        func files() throws -> [FileStatus] {
            try generation.manifest.parts.indices.map { try folder.files.status(of: generation.path(ofPart: $0)) }
        }
        guard (try? folder.checkFiles(of: generation)) != nil, let before = try? files() else { return false }
        let now = ContinuousClock.now
        let isProven = proofs.withLock { proofs in
            proofs[name].map { $0.files == before && now - $0.time < WholenessProof.validity } ?? false
        }
        if isProven { return true }
        guard (try? generation.compareWithManifest()) != nil else { return false }
        proofs.withLock { $0[name] = WholenessProof(files: before, time: now) }
        return true
    }
}

extension Generation? {
    func holdsContent(of manifest: Manifest) -> Bool? { self?.manifest.hasSameContent(as: manifest) }
}
