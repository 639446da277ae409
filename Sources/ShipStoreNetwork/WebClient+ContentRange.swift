import ShipStore
import ShipTransport

extension WebClient.Response {
    /// Where a part of an object begins: `bytes 100-199/200` [RFC 9110 section 14.4].
    ///
    /// - Parameter known: The bytes that are there already, which it must go on from, or overlap.
    func start(notAfter known: Int64, at place: Endpoint) throws(PublicationError) -> Int64 {
        guard let text = self["Content-Range"] else { return 0 }
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.first?.lowercased() == "bytes", words.count == 2,
            let start = words[1].split(separator: "-").first.flatMap({ Int64($0) }), start >= 0, start <= known
        else { throw .badAnswer(place) }
        return start
    }
}
