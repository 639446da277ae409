import DeviceTrust
import ShipLinks
import ShipProtocol
import Synchronization

/// A publication as its recipients read it: what is encrypted is decrypted, and what is not comes as it is.
///
/// Source: `Protocol/PUBLISHED.md` section 9.
final class SealedPublication: PublicationReader {
    private let reader: any PublicationReader
    private let place: Endpoint
    /// Who reads; `nil` for nobody who could be a recipient.
    private let device: Device?
    /// With what the head that was read last is encrypted; `nil` if it is not.
    private let current = Mutex<PublicationKeys?>(nil)

    init(_ reader: any PublicationReader, at place: Endpoint, as device: Device?) {
        (self.reader, self.place, self.device) = (reader, place, device)
    }

    /// With what objects are encrypted that are read or written now.
    var keys: PublicationKeys? {
        get { current.withLock(\.self) }
        set { current.withLock { $0 = newValue } }
    }

    var server: String { reader.server }

    func head(unlike tag: String?, fresh isFresh: Bool) async throws -> FetchedHead {
        let found = try await reader.head(unlike: tag, fresh: isFresh)
        guard case .head(let file, let tag, _) = found else { return found }
        guard SealedHead.isOne(file) else {
            keys = nil
            return found
        }
        let sealed = try PublicationError.reading(at: place) { () throws(ProtocolError) in
            try SealedHead(decoding: file)
        }
        var keys = keys
        if keys?.digest != sealed.keys { keys = try await readKeys(sealed.keys) }
        guard let keys, let head = keys.open(sealed) else {
            throw PublicationError.badHead(place, .damaged(.message(FrameType.manifest.rawValue)))
        }
        self.keys = keys
        return .head(head, tag: tag, keys: keys.digest)
    }

    private func readKeys(_ digest: ContentDigest) async throws -> PublicationKeys {
        guard let own = try device?.existingDecryptionKey() else { throw PublicationError.notARecipient(place) }
        let file = try await reader.beginning(of: digest, upTo: Int64(PublicationKeys.sizeLimit) + 1)
        guard ContentDigest(hashing: file) == digest else { throw PublicationError.badObject(place, digest) }
        let keys = try PublicationError.reading(at: place) { () throws(ProtocolError) in
            try PublicationKeys(decoding: file, with: own)
        }
        guard let keys else { throw PublicationError.notARecipient(place) }
        return keys
    }

    func object(
        _ digest: ContentDigest, from offset: Int64, upTo limit: Int64, _ take: (Int64, [UInt8]) throws -> Void
    ) async throws {
        guard let secret = keys?.secret else {
            return try await reader.object(digest, from: offset, upTo: limit, take)
        }
        do {
            let name = secret.name(of: digest)
            guard try await read(name, with: secret, from: offset, upTo: limit, take) else {
                throw PublicationError.badObject(place, digest)
            }
        } catch PublicationError.objectGone {
            throw PublicationError.objectGone(place, digest)
        }
    }

    /// The first piece of what lies under a name, almost to its end; `nil` if it is encrypted with none of these secrets.
    func firstPiece(of name: ContentDigest, with secrets: [PublicationSecret]) async throws -> [UInt8]? {
        let beginning = try await reader.beginning(of: name, upTo: ObjectOpener.leastSize)
        for secret in secrets {
            var opener = ObjectOpener(secret.cipher(for: name), from: 0, upTo: ObjectOpener.pieceSize - 1)
            var content: [UInt8] = []
            let take = { (_: Int64, piece: [UInt8]) in content += piece }
            if try opener.add(beginning, at: 0, take), try opener.finish(take) { return content }
        }
        return nil
    }

    /// - Returns: Whether it is what was encrypted under this name.
    private func read(
        _ name: ContentDigest, with secret: PublicationSecret, from offset: Int64, upTo limit: Int64,
        _ take: (Int64, [UInt8]) throws -> Void
    ) async throws -> Bool {
        var opener = ObjectOpener(secret.cipher(for: name), from: offset, upTo: limit)
        var isRight = true
        try await reader.object(name, from: opener.start, upTo: opener.end) { position, piece in
            isRight = try isRight && opener.add(piece, at: position, take)
        }
        return try isRight && opener.finish(take)
    }
}

/// The decryption of an object as its bytes come.
private struct ObjectOpener {
    private let cipher: ObjectCipher
    private let offset: Int64
    private let limit: Int64
    /// The number of the piece that comes next, and what there is of it and of those after it.
    private var number: Int64
    private var sealed: [UInt8] = []

    static let pieceSize = Int64(ObjectCipher.pieceSize)
    private static let sealedSize = Int64(ObjectCipher.sealedSize)
    /// The least size that shows whether the first byte is right.
    static let leastSize = sealedSize + 1

    init(_ cipher: ObjectCipher, from offset: Int64, upTo limit: Int64) {
        (self.cipher, self.offset, self.limit) = (cipher, offset, limit)
        number = offset / Self.pieceSize
    }

    /// Where to begin to read what is encrypted.
    var start: Int64 { number * Self.sealedSize }
    /// Where to stop: a byte after the piece that has the last byte, which shows that this is not the last piece.
    var end: Int64 { (limit / Self.pieceSize + 1) * Self.sealedSize + 1 }

    /// - Parameter position: Where it begins; what is known may come again.
    /// - Returns: `false` for what was not encrypted so.
    mutating func add(_ bytes: [UInt8], at position: Int64, _ take: (Int64, [UInt8]) throws -> Void) throws -> Bool {
        let known = start + Int64(sealed.count)
        guard position <= known else { return false }
        sealed += bytes.dropFirst(Int(clamping: known - position))
        while sealed.count > ObjectCipher.sealedSize {
            guard try open(sealed.prefix(ObjectCipher.sealedSize), isLast: false, take) else { return false }
            sealed.removeFirst(ObjectCipher.sealedSize)
            number += 1
        }
        return true
    }

    mutating func finish(_ take: (Int64, [UInt8]) throws -> Void) throws -> Bool {
        try number * Self.pieceSize > limit || open(sealed[...], isLast: true, take)
    }

    private func open(
        _ sealed: ArraySlice<UInt8>, isLast: Bool, _ take: (Int64, [UInt8]) throws -> Void
    ) throws -> Bool {
        guard let piece = cipher.open(sealed, number: number, isLast: isLast) else { return false }
        let start = number * Self.pieceSize
        let wanted = piece.prefix(Int(clamping: max(0, limit - start))).dropFirst(Int(clamping: max(0, offset - start)))
        if !wanted.isEmpty { try take(max(start, offset), Array(wanted)) }
        return true
    }
}
