import DeviceTrust
import ShipLinks
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage

/// A publication as its publisher reads and writes it: encrypted, if it is for recipients.
///
/// Source: `Protocol/PUBLISHED.md` section 9.
final class SealedStorage: PublicationStorage {
    private let storage: any PublicationStorage
    private let publication: SealedPublication
    private let place: Endpoint
    private let recipients: Set<EncryptionKey>
    private let own: DecryptionKey?
    /// Where objects are encrypted.
    private let folder: FilePath
    private let made = Mutex<NewKeys?>(nil)

    /// Keys that this publisher has made, and no head has yet.
    private struct NewKeys {
        let keys: PublicationKeys
        let sealing: PublishedHead.Sealing
    }

    /// - Parameter recipients: Whom what is published is encrypted for, beside this device; empty for everybody.
    init(
        _ storage: any PublicationStorage, at place: Endpoint, as device: Device, for recipients: Set<EncryptionKey>,
        in folder: FilePath
    ) throws(ShipmentError) {
        (self.storage, self.place, self.recipients, self.folder) = (storage, place, recipients, folder)
        publication = SealedPublication(storage, at: place, as: device)
        own = recipients.isEmpty ? nil : try device.decryptionKey()
    }

    // MARK: Keys

    /// Tells whom what is published is to be encrypted for; `nil` for everybody.
    var wanted: ContentDigest? {
        own.map { ContentDigest(of: recipients.union([$0.encryptionKey])) }
    }

    /// Encrypts what is written from now on for who is wanted, with a secret of its own.
    func begin() throws {
        guard let own, let wanted else { return }
        // What was written in an attempt that came too late is of use in the next one.
        publication.keys = try made.withLock { made in
            if let made { return made.keys }
            let keys = try PublicationKeys(for: recipients, by: own, after: publication.keys)
            made = NewKeys(keys: keys, sealing: PublishedHead.Sealing(keys: keys.digest, recipients: wanted))
            return keys
        }
    }

    /// Those with which objects are encrypted that are written now; `nil` for none.
    var keys: ContentDigest? { publication.keys?.digest }

    /// How what this publisher has begun is encrypted; `nil` if it has begun nothing.
    var begun: PublishedHead.Sealing? { made.withLock { $0?.sealing } }

    /// The first piece of what lies under a name, almost to its end; `nil` unless it was encrypted for this publication, with the secret that is
    /// in use, or with one before it.
    func firstPiece(of name: ContentDigest, alsoBefore: Bool) async throws -> [UInt8]? {
        guard let keys = publication.keys else { return nil }
        return try await publication.firstPiece(of: name, with: [keys.secret] + (alsoBefore ? keys.former : []))
    }

    func name(of digest: ContentDigest) -> ContentDigest { publication.keys?.secret.name(of: digest) ?? digest }

    /// Reads the first bytes of what lies under a name, as they are.
    func beginning(ofName name: ContentDigest, upTo limit: Int64) async throws -> [UInt8] {
        try await storage.beginning(of: name, upTo: limit)
    }

    /// Writes the keys that are in use unless they are there, or go with the head.
    func mendKeys() async throws {
        guard let keys = publication.keys, !areNew(keys) else { return }
        let limit = Int64(keys.file.count) + 1
        if (try? await storage.beginning(of: keys.digest, upTo: limit)) != keys.file { try await put(keys) }
    }

    private func areNew(_ keys: PublicationKeys) -> Bool { made.withLock { $0?.keys.digest == keys.digest } }

    /// It is encrypted by itself.
    private func put(_ keys: PublicationKeys) async throws {
        let folder = try TemporaryFolder(in: folder)
        _ = try await storage.put(keys.file, by: folder.path.appending("keys"))
    }

    // MARK: The publication

    var server: String { storage.server }
    var isLocal: Bool { storage.isLocal }

    /// Reads what lies in the place of a head, and nothing of it.
    func headAsItIs() async throws -> FetchedHead { try await storage.head(unlike: nil, fresh: true) }

    func head(unlike tag: String?, fresh isFresh: Bool) async throws -> FetchedHead {
        let found = try await publication.head(unlike: tag, fresh: isFresh)
        if case .head(_, _, let keys?) = found { publish(keys) }
        return found
    }

    /// A head has these keys: they are never made again.
    private func publish(_ keys: ContentDigest) { made.withLock { if $0?.keys.digest == keys { $0 = nil } } }

    func object(
        _ digest: ContentDigest, from offset: Int64, upTo limit: Int64, _ take: (Int64, [UInt8]) throws -> Void
    ) async throws { try await publication.object(digest, from: offset, upTo: limit, take) }

    func put(_ object: PublishedObject, from file: FilePath, as name: ContentDigest) async throws {
        guard let secret = publication.keys?.secret else {
            return try await storage.put(object, from: file, as: name)
        }
        let name = secret.name(of: object.sha256)
        let folder = try TemporaryFolder(in: folder)
        let path = folder.path.appending("encrypted")
        try encrypt(file, size: object.size, to: path, with: secret.cipher(for: name))
        let digest = try ContentDigest(ofFile: path)
        let encrypted = PublishedObject(sha256: digest, size: try PlatformCalls.status(of: path).size)
        try await storage.put(encrypted, from: path, as: name)
    }

    private func encrypt(_ file: FilePath, size: Int64, to target: FilePath, with cipher: ObjectCipher) throws {
        let source = try OpenFile.readingWithoutFollowing(file)
        let target = try OpenFile.creating(target)
        let pieceSize = Int64(ObjectCipher.pieceSize)
        var number: Int64 = 0
        repeat {
            try Task.checkCancellation()
            let left = size - number * pieceSize
            let piece = try source.read(Int(min(pieceSize, left)), at: number * pieceSize)
            guard piece.count == min(pieceSize, left) else { throw FileError(.read, file, .invalidArgument) }
            try target.write(try cipher.seal(piece, number: number, isLast: left <= pieceSize))
            number += 1
        } while number * pieceSize < size
    }

    func replaceHead(tagged tag: String?, with head: [UInt8]) async throws -> String? {
        guard let keys = publication.keys else { return try await storage.replaceHead(tagged: tag, with: head) }
        // At each attempt: what no head names, another program may remove.
        if areNew(keys) { try await put(keys) }
        let file = try keys.seal(head)
        guard file.count <= Limits.headSize else { throw PublicationError.tooMany(place) }
        let new = try await storage.replaceHead(tagged: tag, with: file)
        if new != nil { publish(keys.digest) }
        return new
    }

    func objects() async throws -> [(name: ContentDigest, written: Timestamp)] { try await storage.objects() }

    func remove(_ name: ContentDigest, writtenBefore time: Timestamp) async throws -> Bool {
        try await storage.remove(name, writtenBefore: time)
    }

    func abandonUploads(begunBefore time: Timestamp) async throws {
        try await storage.abandonUploads(begunBefore: time)
    }
}
