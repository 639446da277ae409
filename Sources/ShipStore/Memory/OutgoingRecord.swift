import ShipCompression
import StoreFiles

/// A producer's record of a shipment on its way out, so that another session can go on with the shipment if the link breaks. An error in it
/// never fails a shipment.
protocol OutgoingRecord: Sendable {
    /// Takes up what an earlier session recorded of the part that was open.
    ///
    /// - Parameter isOfUse: Called with each recorded stream, until it returns true.
    /// - Returns: That stream; `nil` if there is none.
    func goOn(where isOfUse: (PartStream) -> Bool) -> PartStream?

    /// A part is opened at its beginning.
    func begin(_ header: PartStream.Header)

    /// The data of one DATA are about to go: they follow those before them, or what was taken up.
    func add(_ data: [UInt8], _ note: PieceNote)

    /// The shipment has broken off: from here on the record is another session's.
    func breakOff()

    /// The shipment has arrived, or has failed for good: removes the record, unless the shipment has broken off.
    func finish()
}
