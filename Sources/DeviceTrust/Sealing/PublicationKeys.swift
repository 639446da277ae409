import EssentialFoundation
package import ShipProtocol
import StoreFiles

/// The secret of a publication, and the object that has it, encrypted for each recipient.
///
///     0    8 bytes    `SHIPKEYS`
///     8    1 byte     version: 1
///     9    1 byte     how many recipients: 1 to 101
///     10   80 bytes   for each: the secret, encrypted with HPKE (32 bytes of an encapsulated key, and 48)
///          rest       the secrets before this one, the last one first, encrypted for the publisher alone; nothing if there are none
///
/// Source: `Protocol/PUBLISHED.md` section 9. Vectors: `sealed_keys_*`.
package struct PublicationKeys: Sendable {
    private static let magic = Array("SHIPKEYS".utf8)
    private static let version: UInt8 = 1
    private static let purpose = "ship-store publication keys v1"
    private static let formerPurpose = "ship-store former keys v1"
    private static let entrySize = EncryptionKey.encapsulatedSize + PublicationSecret.size + tagSize
    private static let tagSize = 16
    /// How many secrets before it are kept.
    private static let mostFormer = 16
    /// Longest object, in bytes.
    package static let sizeLimit =
        magic.count + 2 + Limits.recipients * entrySize + EncryptionKey.encapsulatedSize + mostFormer
        * PublicationSecret.size + tagSize

    /// The object.
    package let file: [UInt8]
    package let secret: PublicationSecret
    /// Those before it, as far as this device has published with them.
    package let former: [PublicationSecret]

    package var digest: ContentDigest { ContentDigest(hashing: file) }

    /// A new secret.
    ///
    /// - Parameters:
    ///   - recipients: Who is to have it, beside the publisher.
    ///   - publisher: This device's key.
    ///   - before: What it takes the place of; `nil` for nothing.
    /// - Throws: `.badKey`.
    package init(
        for recipients: some Sequence<EncryptionKey>, by publisher: DecryptionKey, after before: PublicationKeys?
    ) throws(IdentityError) {
        secret = PublicationSecret()
        former = before.map { Array(([$0.secret] + $0.former).prefix(Self.mostFormer)) } ?? []
        let keys = Set(recipients).union([publisher.encryptionKey]).sorted()
        var file = Self.magic + [Self.version, UInt8(keys.count)]
        for key in keys { file += try key.seal(secret.bytes, for: Self.purpose) }
        if !former.isEmpty {
            file += try publisher.encryptionKey.seal(former.flatMap(\.bytes), for: Self.formerPurpose)
        }
        self.file = file
    }

    /// - Parameter file: The whole object, whose digest is right.
    /// - Returns: `nil` if `key` is no recipient's.
    /// - Throws: `.versionNotSupported`, `.badMessage`.
    package init?(decoding file: [UInt8], with key: DecryptionKey) throws(ProtocolError) {
        guard let count = try Self.count(of: file) else {
            throw FrameType.manifest.bad("it is not what has the keys of a publication")
        }
        var rest = file.dropFirst(Self.magic.count + 2)
        var secret: [UInt8]?
        for _ in 0..<count {
            if secret == nil { secret = key.open(rest.prefix(Self.entrySize), for: Self.purpose) }
            rest = rest.dropFirst(Self.entrySize)
        }
        guard let secret, secret.count == PublicationSecret.size else { return nil }
        self.secret = PublicationSecret(bytes: secret)
        let former = key.open(rest, for: Self.formerPurpose) ?? []
        self.former = stride(from: 0, to: former.count - PublicationSecret.size + 1, by: PublicationSecret.size).map {
            PublicationSecret(bytes: Array(former[$0..<$0 + PublicationSecret.size]))
        }
        self.file = file
    }

    /// Whether an object has the keys of a publication.
    package static func areIn(_ file: [UInt8]) -> Bool { (try? count(of: file)) != nil }

    /// The number of its recipients; `nil` if it is no such object.
    private static func count(of file: [UInt8]) throws(ProtocolError) -> Int? {
        guard file.count <= sizeLimit, file.starts(with: magic) else { return nil }
        let rest = file.dropFirst(magic.count)
        if let version = rest.first, version != Self.version { throw .versionNotSupported(version...version) }
        guard let count = rest.dropFirst().first.map(Int.init), (1...Limits.recipients).contains(count),
            rest.count >= 2 + count * entrySize
        else { return nil }
        return count
    }
}

extension PublicationKeys {
    /// The file of a head, encrypted.
    package func seal(_ head: [UInt8]) throws -> [UInt8] { try secret.seal(head, digest).encoded }

    /// - Returns: The file of the head; `nil` if it is not what was encrypted.
    package func open(_ head: SealedHead) -> [UInt8]? { head.keys == digest ? secret.open(head) : nil }
}

extension ContentDigest {
    /// Tells whom a publication is encrypted for: of their keys, the publisher's among them, in rising order.
    package init(of recipients: some Sequence<EncryptionKey>) {
        self.init(hashing: recipients.sorted().flatMap(\.bytes))
    }
}
