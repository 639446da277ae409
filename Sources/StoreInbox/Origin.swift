import EssentialFoundation
public import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Where a shipment came from, if that was proven. It lies beside the manifest of its generation, as `origin.json`, and so
/// becomes current in the same instant as the generation.
public struct Origin: Hashable, Sendable {
    /// The id of the device that made it: the SHA-256 of its certificate. `nil` where that is not known.
    public let producer: ContentDigest?
    /// The device's number of the shipment.
    public let counter: UInt64

    package init(producer: ContentDigest?, counter: UInt64) {
        self.producer = producer
        self.counter = counter
    }
}

extension Origin: Codable {
    /// Largest file that is read, in bytes.
    fileprivate static let sizeLimit: Int64 = 4096

    /// - Returns: `nil` if nobody knows.
    /// - Throws: `.badOrigin`, `.file`.
    package static func read(
        ofGenerationAt path: FilePath, in folder: borrowing OpenFolder
    ) throws(InboxError) -> Origin? {
        let path = path.appending(InboxLayout.originFile)
        return try folder.record(
            Origin.self, at: path, upTo: sizeLimit, unreadable: .badOrigin(path), undecodable: .badOrigin(path))
    }
}

/// Which device's shipments a store accepts, and the highest counter among them. The `Origin` of the current generation says it
/// for that generation; `origin.json` in the store's folder says it for earlier ones.
///
/// So the counter of the current generation is known at every moment. The record is written before `current` leads elsewhere, and
/// whenever a counter rises without a new generation.
package struct OriginRecord: Hashable, Sendable {
    /// The device whose shipments are taken.
    package let producer: ContentDigest
    /// The highest counter of those that came from it.
    package let highest: UInt64
    /// The last generation that the record covers: for a later one its own `Origin` counts.
    package let generation: Int

    package init(producer: ContentDigest, highest: UInt64, generation: Int) {
        self.producer = producer
        self.highest = highest
        self.generation = generation
    }

    /// What is known once a generation is, or was, current.
    ///
    /// - Parameters:
    ///   - path: The folder of the generation.
    ///   - folder: The inbox.
    package static func after(
        _ generation: GenerationName, at path: FilePath, in folder: borrowing OpenFolder, _ record: OriginRecord?
    ) throws(InboxError) -> OriginRecord? {
        guard generation.number > record?.generation ?? 0,
            let origin = try Origin.read(ofGenerationAt: path, in: folder),
            let producer = origin.producer ?? record?.producer
        else { return record }
        return OriginRecord(producer: producer, highest: origin.counter, generation: generation.number)
    }
}

extension OriginRecord: Codable {
    /// - Returns: `nil` if there is no file.
    /// - Throws: `.badOrigin`, `.file`.
    package static func read(
        at path: FilePath, in folder: borrowing OpenFolder
    ) throws(InboxError) -> OriginRecord? {
        try folder.record(
            OriginRecord.self, at: path, upTo: Origin.sizeLimit, unreadable: .badOrigin(path),
            undecodable: .badOrigin(path))
    }
}

/// Who sends a shipment, and what says so.
package enum Sender: Hashable, Sendable {
    /// The device of this id: by its certificate on the link, or by its signature. It may go on with a store of another one, or with
    /// lower numbers of its own, if it may take the store over.
    case device(ContentDigest, mayTakeOver: Bool)
    /// Whatever carries the shipment is relied on; it does not say which device it is.
    case carrier
    /// The operator accepts it, whichever device made it, and whatever its counter.
    case operatorsWord

    /// Which device it is; `nil` if it is unknown.
    package var device: ContentDigest? { if case .device(let id, _) = self { id } else { nil } }
}

/// Why a shipment does not follow on those that came before.
public enum SequenceFlaw: Error, Hashable, Sendable {
    /// Its counter is not above the highest seen.
    case replayed(counter: UInt64, highest: UInt64)
    /// Its counter is so far above the highest seen that there would be no room above it.
    case tooFarAhead(counter: UInt64, highest: UInt64)
    /// Its copy was taken before the one that is current, and nothing says that it follows on that.
    case older(Timestamp, than: Timestamp)
    /// It has none, and the store's shipments have.
    case noCounter
    /// It has none, and comes from a device that is known: those of devices have one.
    case notCounted
    /// It does not say which device it is from, and the store's shipments are one's.
    case noDevice
    /// The store's shipments are another device's.
    case otherDevice
}

extension Sender {
    /// Whether a shipment may become current, and what is known of where it is from.
    ///
    /// - Parameters:
    ///   - record: What is known of the store's shipments so far.
    ///   - isCurrent: Whether it is the very shipment that is current already: then its own counter may come again.
    /// - Returns: `nil` if nothing is to be remembered.
    package func admit(
        _ manifest: Manifest, after record: OriginRecord?, isCurrent: Bool = false
    ) throws(SequenceFlaw) -> Origin? {
        switch self {
        case .operatorsWord: return nil
        case .carrier:
            guard let record else {
                // No device's numbers are known yet. Only the number that would leave no room above it is refused.
                if let counter = manifest.counter { try Self.check(counter, above: nil) }
                return nil
            }
            guard let counter = manifest.counter else { throw .noCounter }
            if isCurrent, counter == record.highest { return Origin(producer: nil, counter: counter) }
            // A replay is reported as such. An unproven number must not raise the device's own: otherwise anyone who can write to
            // a pipe could lock the device out.
            try Self.check(counter, above: record.highest)
            throw .noDevice
        case .device(let id, let mayTakeOver):
            guard let counter = manifest.counter else { throw record == nil ? .notCounted : .noCounter }
            switch (mayTakeOver, record) {
            case (true, _): try Self.check(counter, above: nil)
            case (false, nil): try Self.check(counter, above: 0)
            case (false, let record?):
                guard record.producer == id else { throw .otherDevice }
                if isCurrent, counter == record.highest { break }
                try Self.check(counter, above: record.highest)
            }
            return Origin(producer: id, counter: counter)
        }
    }

    /// - Parameter highest: `nil` where numbers begin anew, wherever they do.
    private static func check(_ counter: UInt64, above highest: UInt64?) throws(SequenceFlaw) {
        guard counter < .max else { throw .tooFarAhead(counter: counter, highest: highest ?? 0) }
        guard let highest else { return }
        guard counter > highest else { throw .replayed(counter: counter, highest: highest) }
        guard counter - highest <= Limits.counterLead else {
            throw .tooFarAhead(counter: counter, highest: highest)
        }
    }
}
