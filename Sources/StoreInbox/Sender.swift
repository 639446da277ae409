package import ShipProtocol

/// Who sends a shipment, and what says so.
package enum Sender: Hashable, Sendable {
    /// The device of this id: by its certificate on the link, or by its signature.
    case device(ContentDigest, TakeOver)
    /// Whatever carries the shipment is relied on; it does not say which device it is.
    case carrier
    /// The operator takes it as it is, whoever made it, and whenever.
    case operatorsWord

    /// Which device it is; `nil` where nobody says so.
    package var device: ContentDigest? { if case .device(let id, _) = self { id } else { nil } }

    /// Whether a device may go on with a store of another one, or with lower numbers of its own.
    package enum TakeOver: Hashable, Sendable { case allowed, notAllowed }
}

/// Why a shipment does not follow on those that came before.
public enum SequenceFlaw: Error, Hashable, Sendable {
    /// Its counter is not above the highest seen.
    case replayed(counter: UInt64, highest: UInt64)
    /// Its counter is so far above the highest seen that there would be no room above it.
    case tooFarAhead(counter: UInt64, highest: UInt64)
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
                // Nobody's numbers: only that one which would leave no room is refused here too.
                if let counter = manifest.counter { try Self.check(counter, above: nil) }
                return nil
            }
            guard let counter = manifest.counter else { throw .noCounter }
            if isCurrent, counter == record.highest { return Origin(producer: nil, counter: counter) }
            // An old one is told as such. One with a number that nobody has proven must not raise the device's own: who can
            // write to a pipe could lock the device out by it.
            try Self.check(counter, above: record.highest)
            throw .noDevice
        case .device(let id, let takeOver):
            guard let counter = manifest.counter else { throw record == nil ? .notCounted : .noCounter }
            switch (takeOver, record) {
            case (.allowed, _): try Self.check(counter, above: nil)
            case (.notAllowed, nil): try Self.check(counter, above: 0)
            case (.notAllowed, let record?):
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
