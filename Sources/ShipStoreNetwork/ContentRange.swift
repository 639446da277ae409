import ShipStore
import ShipTransport

/// Where a part of an object begins: `bytes 100-199/200` [RFC 9110 section 14.4].
struct ContentRange {
    let start: Int64

    init(_ text: String, at place: Endpoint) throws(PublicationError) {
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.first?.lowercased() == "bytes", words.count == 2,
            let start = words[1].split(separator: "-").first.flatMap({ Int64($0) }), start >= 0
        else { throw .badAnswer(place) }
        self.start = start
    }
}
