import ShipProtocol

/// The published version of a store.
struct PublishedVersion {
    let manifest: Manifest
    /// Before the store was read.
    let asOf: Timestamp
    /// `nil` if that is published already.
    let shipment: OutgoingShipment?

    var name: StoreName { manifest.name }
    var content: ManifestContent.ID { ManifestContent(of: manifest).id }
}
