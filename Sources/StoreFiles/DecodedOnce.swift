import Synchronization

/// The value that was decoded last, by its bytes: the same bytes are not decoded again. Where many receivers are served, each of them has
/// the same files read.
package final class DecodedOnce<Value: Sendable>: Sendable {
    /// How many are kept.
    private static var most: Int { 4 }

    private let longest: Int
    /// The last one first.
    private let known = Mutex<[(bytes: [UInt8], value: Value)]>([])

    /// - Parameter longest: The longest that is kept, in bytes.
    package init(upTo longest: Int = 1 << 20) { self.longest = longest }

    package func value<Failure>(of bytes: [UInt8], decoding decode: ([UInt8]) throws(Failure) -> Value) throws(Failure)
        -> Value
    {
        let found = known.withLock { known -> Value? in
            guard let index = known.firstIndex(where: { $0.bytes == bytes }) else { return nil }
            let entry = known.remove(at: index)
            known.insert(entry, at: 0)
            return entry.value
        }
        if let found { return found }
        let value = try decode(bytes)
        keep(value, of: bytes)
        return value
    }

    /// - Parameter value: What the bytes decode to.
    package func keep(_ value: Value, of bytes: [UInt8]) {
        guard bytes.count <= longest else { return }
        known.withLock { known in
            known.insert((bytes, value), at: 0)
            if known.count > Self.most { known.removeLast() }
        }
    }
}
