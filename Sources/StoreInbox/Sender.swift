package import ShipProtocol

/// Who sends a shipment, and what says so.
package enum Sender: Hashable, Sendable {
    /// The device of this id: by its certificate on the link, or by its signature. It may go on with a store of another one, or with
    /// lower numbers of its own, if it may take the store over.
    case device(ContentDigest, mayTakeOver: Bool, relay: ContentDigest? = nil)
    /// Whatever carries the shipment is relied on; it does not say which device it is.
    case carrier
    /// The operator accepts it, whichever device made it, and whatever its counter.
    case operatorsWord
    /// The operator of this device puts a first generation there.
    case adoption

    package var device: ContentDigest? { if case .device(let id, _, _) = self { id } else { nil } }

    /// The device that passes on what another one has made; `nil` if none does.
    package var relay: ContentDigest? { if case .device(_, _, let relay) = self { relay } else { nil } }

    /// The device at the other end, which knows what it has brought itself; `nil` if it is unknown.
    package var peer: ContentDigest? { relay ?? device }
}

extension Sender {
    /// Whether a shipment may become current, and what is known of where it is from.
    ///
    /// - Parameters:
    ///   - record: What is known of the store's shipments so far.
    ///   - isCurrent: Whether it is the very shipment that is current already: then its own counter may come again. `nil` if nothing that
    ///     can be read is current: then the device itself may bring it again.
    /// - Returns: `nil` if nothing is to be remembered.
    package func admit(
        _ manifest: Manifest, after record: OriginRecord?, isCurrent: Bool? = false
    ) throws(SequenceFlaw) -> Origin? {
        switch self {
        case .operatorsWord: return nil
        case .adoption: return .adoption
        case .carrier:
            guard let record else {
                // No device's numbers are known yet. Only the number that would leave no room above it is refused.
                if let counter = manifest.counter { try Self.check(counter, above: nil) }
                return nil
            }
            guard let counter = manifest.counter else { throw .noCounter }
            if isCurrent == true, counter == record.highest { return Origin(producer: nil, counter: counter) }
            // A replay is reported as such. An unproven number must not raise the device's own: otherwise anyone who can write to
            // a pipe could lock the device out.
            try Self.check(counter, above: record.highest)
            throw .noDevice
        case .device(let id, let mayTakeOver, let relay):
            guard let counter = manifest.counter else { throw record == nil ? .notCounted : .noCounter }
            switch (mayTakeOver, record) {
            case (true, _): try Self.check(counter, above: nil)
            case (false, nil): try Self.check(counter, above: 0)
            case (false, let record?):
                guard record.producer == id else { throw .otherDevice }
                if isCurrent != false, counter == record.highest { break }
                guard relay == nil || counter > record.highest else {
                    throw .overtaken(counter: counter, highest: record.highest)
                }
                try Self.check(counter, above: record.highest)
            }
            return Origin(producer: id, counter: counter, relay: relay)
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
