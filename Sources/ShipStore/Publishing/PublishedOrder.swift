import EssentialFoundation
import ShipProtocol

/// A store that is to be published, and the order that prepares it.
struct PublishedOrder {
    let name: StoreName
    let order: ProducerSession.Order
    /// The remembered copies of the store; `nil` for nothing.
    let bases: RememberedBases?

    /// The store as it is now.
    func version(unlike head: PublishedHead?) async throws -> PublishedVersion {
        let time = Timestamp(Date())
        if let manifest = await order.unchanged(), ManifestContent(of: manifest).id == head?[name]?.newest {
            return PublishedVersion(manifest: manifest, asOf: time, shipment: nil)
        }
        let shipment = try await order.prepare()
        return PublishedVersion(manifest: shipment.manifest, asOf: time, shipment: shipment)
    }
}
