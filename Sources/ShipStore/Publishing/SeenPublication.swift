import DeviceTrust
import ShipLinks
import ShipProtocol
import StoreInbox

/// The record of a publication in an inbox, which says which heads it takes there.
///
/// Source: `Protocol/PUBLISHED.md` sections 4 and 8.
struct SeenPublication {
    let folder: InboxFolder
    let reader: any PublicationReader
    let place: Endpoint

    /// Reads a head, checks that it is not older than one before, and is of the device that is known, or of one that goes on after it and
    /// `isWelcome`; and remembers it durably, with the certificate of its publisher, which is read once. It must be encrypted with the keys
    /// of this digest, or not at all.
    func admit(
        _ file: [UInt8], encryptedWith keys: ContentDigest?, isWelcome: (Succession) throws -> Bool
    ) async throws -> (head: PublishedHead, publisher: Succession, certificate: [UInt8]) {
        let name = reader.nameInMemory(at: place)
        let known = try folder.publicationRecord(at: name)
        let (signed, publisher, certificate) = try await reader.read(
            file, at: place, knowing: known?.certificate.map { Array($0) } ?? [])
        let head = try signed.head(at: place, encryptedWith: keys)
        let (device, digest) = (signed.publisher, ContentDigest(hashing: file))
        let former = try await former(of: head, by: publisher, device, digest, known)
        if let known {
            guard known.publication == head.publication else { throw PublicationError.otherPublication(place) }
            try check(head.number, since: known)
        }
        let succession = Succession(publisher, after: former.compactMap { DeviceIdentifier(bytes: $0.bytes) })
        guard try isWelcome(succession) else { throw ShipmentError.unknownSigner(publisher) }
        // Once a device has named the next, nothing more of it counts than that very head.
        let record = PublicationRecord(
            publication: head.publication, publisher: head.next ?? device,
            former: Array(((head.next == nil ? [] : [device]) + former).prefix(Limits.formerPublishers)),
            number: head.number, last: head.next.map { _ in digest }, certificate: certificate)
        if record != known { try folder.write(record, at: name) }
        return (head, succession, certificate)
    }

    private func check(_ number: UInt64, since known: PublicationRecord) throws(PublicationError) {
        guard known.number <= number else { throw .wentBack(place, from: known.number, to: number) }
    }

    /// The devices that have published before this one, the last one first.
    ///
    /// - Throws: `.otherPublisher` if none of them is the known one, `.wentBack`.
    private func former(
        of head: PublishedHead, by publisher: DeviceIdentifier, _ device: ContentDigest, _ digest: ContentDigest,
        _ known: PublicationRecord?
    ) async throws -> [ContentDigest] {
        guard let known else {
            return try await reader.formerHeads(of: head, by: publisher, from: place).map(\.device)
        }
        if known.publisher == device { return known.former }
        if known.last == digest { return Array(known.former.dropFirst()) }
        // What a cache shows that lags behind.
        if known.former.contains(device) { try check(head.number, since: known) }
        let heads = try await reader.formerHeads(
            of: head, by: publisher, upTo: DeviceIdentifier(bytes: known.publisher.bytes), from: place)
        guard let last = heads.last, last.device == known.publisher else {
            throw PublicationError.otherPublisher(place, publisher)
        }
        // The known device has gone on since: it had not named that one for good.
        try check(last.head.number, since: known)
        return heads.map(\.device) + known.former
    }
}
