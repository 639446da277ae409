/// The streams that were found of late. A choice of encodings looks for them in some strings first, and then in all.
struct FoundStreams {
    /// The most bytes to keep. When there would be more, it forgets them all.
    private static let most = 524_288

    /// Hashes only the last bytes: streams are noise, and many end with a checksum.
    private struct Key: Hashable {
        let string: ArraySlice<UInt8>

        func hash(into hasher: inout Hasher) {
            hasher.combine(string.count)
            string.suffix(64).withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    private var streams: [Key: FoundStream] = [:]
    private var size = 0

    /// - Returns: `nil` for a string that is not remembered.
    func stream(in string: ArraySlice<UInt8>) -> FoundStream? {
        streams[Key(string: string)]
    }

    mutating func remember(_ stream: FoundStream, in string: ArraySlice<UInt8>) {
        let more = string.count + stream.size
        guard more <= Self.most else { return }
        // A copy, because a slice would keep all strings of its buffer.
        let key = Key(string: Array(string)[...])
        if let old = streams.removeValue(forKey: key) { size -= string.count + old.size }
        if size + more > Self.most {
            streams = [:]
            size = 0
        }
        streams[key] = stream
        size += more
    }
}
