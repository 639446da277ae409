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

    /// Checks that a head is not older than one before, and is of the device that is known, or of one that goes on after it; and remembers it
    /// durably.
    ///
    /// - Parameter isWelcome: Whether a device may publish for this one.
    /// - Returns: Who publishes.
    func admit(
        _ head: PublishedHead, by publisher: DeviceIdentifier, _ file: [UInt8],
        isWelcome: (Succession) throws -> Bool
    ) async throws -> Succession {
        let (device, digest) = (ContentDigest(sha256: publisher.bytes), ContentDigest(hashing: file))
        let known = try folder.publicationRecord(at: "\(place)")
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
            number: head.number, last: head.next.map { _ in digest })
        if record != known { try folder.write(record, at: "\(place)") }
        return succession
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
