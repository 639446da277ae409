import DeviceTrust
import ShipLinks
import ShipProtocol

/// Reading a head, with errors that say where it lies.
extension HeadFile {
    /// - Parameter keys: The digest of those with which it was encrypted; `nil` if it was not.
    /// - Throws: `.badHead`, also if it says otherwise.
    func head(at place: Endpoint, encryptedWith keys: ContentDigest?) throws(PublicationError) -> PublishedHead {
        let head = try head(at: place)
        guard head.sealing?.keys == keys else {
            throw .badHead(
                place,
                FrameType.manifest.bad("it is encrypted with other keys than its publisher says"))
        }
        return head
    }

    func head(at place: Endpoint) throws(PublicationError) -> PublishedHead {
        try PublicationError.reading(at: place) { () throws(ProtocolError) in try head() }
    }
}

extension PublicationError {
    /// - Throws: `.badHead` for what `body` throws.
    static func reading<Value>(
        at place: Endpoint, _ body: () throws(ProtocolError) -> Value
    ) throws(PublicationError) -> Value {
        do throws(ProtocolError) {
            return try body()
        } catch {
            throw .badHead(place, error)
        }
    }
}
