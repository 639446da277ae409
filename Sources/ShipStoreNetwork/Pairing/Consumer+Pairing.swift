import DeviceTrust
import ShipStore
import ShipTransport

extension Consumer {
    /// What a connection of a listener turned out to be.
    enum Visit {
        case paired(TrustedPeer)
        case session(PeerLink)
    }

    /// Pairs if that is what the other side is here for, and hands the link on if not.
    ///
    /// - Throws: Among others, `.link(.notTrusted)` if the other side may do nothing but pair, and does not.
    func receive(_ link: PeerLink, in window: PairingWindow, on device: Device) async throws(ShipmentError) -> Visit {
        do {
            var reader = ExactReader(link.reader, within: options.timeouts.hello)
            guard try await reader.begins(with: PairingExchange.magic) else {
                // Whoever is here to pair alone is told nothing, not even that they are refused.
                _ = try options.trust.stores(of: link, as: .sender)
                return .session(link.begun(with: reader.rest))
            }
            return .paired(try await device.pair(over: link, reader, in: window, options.timeouts))
        } catch {
            throw ShipmentError(error)
        }
    }
}
