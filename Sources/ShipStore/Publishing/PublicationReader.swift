import DeviceTrust
import ShipLinks
package import ShipProtocol

/// Where publications lie, for who reads them. What comes from there is trusted with nothing: heads are signed, and objects have digests.
///
/// Source: `Protocol/PUBLISHED.md` section 1.
package protocol PublicationReader: Sendable {
    /// The server, where the place does not name it, and has the same name as one at another server; else nothing.
    var server: String { get }

    /// Reads the head.
    ///
    /// - Parameters:
    ///   - tag: Of the head that is known; `nil` for none.
    ///   - isFresh: Whether to ask where the head is written, past any cache.
    /// - Throws: `ShipmentError`.
    func head(unlike tag: String?, fresh isFresh: Bool) async throws -> FetchedHead

    /// Reads an object, or the rest of it.
    ///
    /// - Parameters:
    ///   - offset: How much of it is known.
    ///   - limit: Where to stop: more than the object should have is no object.
    ///   - take: Called with each piece, and where it begins: at `offset`, at 0, or where the last one ended. What broke off may come
    ///     again from 0 on.
    /// - Throws: `.publication(.objectGone)`, and what `take` throws.
    func object(
        _ digest: ContentDigest, from offset: Int64, upTo limit: Int64, _ take: (Int64, [UInt8]) throws -> Void
    ) async throws
}

extension PublicationReader {
    package var server: String { "" }

    /// The place by which it is known: the same wherever this process is, and no other publication's.
    func nameInMemory(at place: Endpoint) -> String {
        place.nameInMemory + (server.isEmpty ? "" : " at \(server)")
    }

    /// Reads the first bytes of an object.
    func beginning(of digest: ContentDigest, upTo limit: Int64) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        try await object(digest, from: 0, upTo: limit) { offset, piece in
            // Where something broke off, some of it may come again.
            bytes.removeLast(bytes.count - min(Int(offset), bytes.count))
            bytes += piece
        }
        return bytes
    }
}

extension PublicationReader {
    /// - Throws: `.publication(.badObject)`.
    func catalog(_ object: PublishedObject, of name: StoreName, from place: Endpoint) async throws -> StoreCatalog {
        guard object.size <= Int64(Limits.catalogSize) else {
            throw PublicationError.badObject(place, object.sha256)
        }
        let bytes = try await bytes(of: object, from: place)
        guard let catalog = try? StoreCatalog(decoding: bytes), catalog.name == name else {
            throw PublicationError.badObject(place, object.sha256)
        }
        return catalog
    }

    /// Reads a small object.
    ///
    /// - Throws: `.publication(.badObject)`.
    func bytes(of object: PublishedObject, from place: Endpoint) async throws -> [UInt8] {
        let bytes = try await beginning(of: object.sha256, upTo: object.size + 1)
        guard bytes.count == Int(object.size), ContentDigest(hashing: bytes) == object.sha256 else {
            throw PublicationError.badObject(place, object.sha256)
        }
        return bytes
    }

    /// Reads the file of a head, and verifies its signature.
    ///
    /// - Parameter known: A certificate that is at hand. Where it is not the publisher's, that is read.
    /// - Throws: `.publication(.badHead)`, `.publication(.badSignature)`, `.publication(.objectGone)`, `.publication(.badObject)`.
    func read(
        _ head: [UInt8], at place: Endpoint, knowing known: [UInt8] = []
    ) async throws -> (file: HeadFile, publisher: DeviceIdentifier, certificate: [UInt8]) {
        let file = try PublicationError.reading(at: place) { () throws(ProtocolError) in try HeadFile(decoding: head) }
        var certificate = known
        if ContentDigest(hashing: known) != file.publisher {
            certificate = try await beginning(of: file.publisher, upTo: Int64(Limits.certificateSize) + 1)
            guard certificate.count <= Limits.certificateSize, ContentDigest(hashing: certificate) == file.publisher
            else { throw PublicationError.badObject(place, file.publisher) }
        }
        do throws(SignatureError) {
            return (file, try file.signer(by: certificate), certificate)
        } catch {
            throw PublicationError.badSignature(place, error)
        }
    }

    /// Reads the last heads of the devices that published before, the last one first, each of which names the device that came after it.
    ///
    /// - Parameters:
    ///   - known: Where to stop; `nil` for as far as there are any.
    /// - Throws: `.publication(.badObject)`.
    func formerHeads(
        of head: PublishedHead, by publisher: DeviceIdentifier, upTo known: DeviceIdentifier? = nil,
        from place: Endpoint
    ) async throws -> [(head: PublishedHead, device: ContentDigest, certificate: [UInt8])] {
        var found: [(head: PublishedHead, device: ContentDigest, certificate: [UInt8])] = []
        var (last, device) = (head, publisher)
        while let object = last.before, found.count < Limits.formerPublishers, device != known {
            let (file, former, certificate) = try await read(try await bytes(of: object, from: place), at: place)
            let head = try file.head(at: place)
            guard head.publication == last.publication, head.number < last.number,
                head.next == ContentDigest(sha256: device.bytes)
            else { throw PublicationError.badObject(place, object.sha256) }
            found.append((head, ContentDigest(sha256: former.bytes), certificate))
            (last, device) = (head, former)
        }
        return found
    }
}
