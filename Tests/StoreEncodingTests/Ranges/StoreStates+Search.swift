import StoreFormat
import TestSupport

@testable import StoreEncoding

/// Two states of a store, of which one side has the old one and the other side the new one: what they find of each other.
extension StoreStates {
    /// What a search has found, and what it took.
    struct Found {
        var shared: SharedRows?
        /// Bytes both ways.
        var bytes = 0
        var requests = 0
    }

    /// - Parameter change: Changes an answer on its way.
    func search(_ change: ([UInt8]) -> [UInt8] = { $0 }) throws -> Found {
        let search = try RangeSearch(try MemoryPages(new), shapes: shapes, nonce: Array(0..<16))
        let answers = try RangeAnswers(try MemoryPages(base), nonce: Array(100..<116))
        var found = Found()
        var request: [UInt8]? = search.begin()
        while let next = request {
            let answer = change(try answers.answer(next))
            found.bytes += next.count + answer.count
            found.requests += 1
            request = try search.next(after: answer)
        }
        found.shared = search.shared
        return found
    }

    func delta(_ shared: SharedRows) throws -> [[UInt8]] {
        var segments: [[UInt8]] = []
        try AsyncDeltaEncoder.write(try MemoryPages(new), sharing: shared, shapes, .smallest, limit: .max) {
            segments.append($0.bytes)
        }
        return segments
    }
}
