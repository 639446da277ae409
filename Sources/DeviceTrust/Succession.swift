/// A device that publishes, and those that did before it, each of which has named the next.
///
/// Source: `Protocol/PUBLISHED.md` section 8.
package struct Succession: Hashable, Sendable {
    package let device: DeviceIdentifier
    /// The last one first.
    package let former: [DeviceIdentifier]

    package init(_ device: DeviceIdentifier, after former: [DeviceIdentifier] = []) {
        (self.device, self.former) = (device, former)
    }
}

extension TrustList {
    /// The stores that a device may send; `nil` if it may send none. What the list says of it counts, or else what it says of the one
    /// before it, and so on: so whoever trusts a device no longer does not trust the ones that it has named either.
    package func stores(sentBy succession: Succession) -> TrustedPeer.Stores? {
        guard let id = ([succession.device] + succession.former).first(where: { peer($0) != nil }) else { return nil }
        return stores(of: id, as: .sender)
    }
}
