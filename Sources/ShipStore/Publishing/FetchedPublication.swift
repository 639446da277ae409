import ShipLinks
import ShipProtocol
import StoreFiles
import SystemPackage

/// A publication whose files an app fetches, in its own way.
struct FetchedPublication: PublicationReader {
    let place: Endpoint
    let fetch: @Sendable (PublishedFile) async throws -> FilePath?

    func head(unlike tag: String?, fresh isFresh: Bool) async throws -> FetchedHead {
        guard let file = try await file("head", Limits.headSize + 1, isFresh: isFresh) else { return .none }
        let bytes = try file.read(Limits.headSize + 1, at: 0)
        let new = ContentDigest(hashing: bytes).hex
        return new == tag ? .unchanged : .head(bytes, tag: new)
    }

    func object(
        _ digest: ContentDigest, from offset: Int64, upTo limit: Int64, _ take: (Int64, [UInt8]) throws -> Void
    ) async throws {
        guard let file = try await file("objects/\(digest.hex)", Int(clamping: limit), isFresh: false) else {
            throw PublicationError.objectGone(place, digest)
        }
        try file.forEachPiece(from: offset, upTo: limit, take)
    }

    /// - Returns: `nil` if there is none.
    private func file(_ path: String, _ limit: Int, isFresh: Bool) async throws -> OpenFile? {
        let found: FilePath?
        do {
            found = try await fetch(PublishedFile(path: path, sizeLimit: Int64(limit), isFresh: isFresh))
        } catch {
            throw LinkError(ofCarrier: error)
        }
        guard let found else { return nil }
        return try OpenFile.reading(found)
    }
}

extension OpenFile {
    /// Reads from a position up to a limit, or to the end.
    func forEachPiece(from offset: Int64, upTo limit: Int64, _ take: (Int64, [UInt8]) throws -> Void) throws {
        var offset = offset
        while offset < limit {
            try Task.checkCancellation()
            let piece = try read(Int(min(Self.pieceSize, limit - offset)), at: offset)
            guard !piece.isEmpty else { return }
            try take(offset, piece)
            offset += Int64(piece.count)
        }
    }

    private static let pieceSize: Int64 = 256 * 1024
}
