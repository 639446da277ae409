import Synchronization

extension PeerLink {
    /// The same link, of which some bytes have been read already.
    package func begun(with bytes: [UInt8]) -> PeerLink {
        PeerLink(
            direction: direction, medium: medium, reader: LinkReader(PrefixedSource(bytes, reader)), writer: writer,
            peer: peer, device: device)
    }
}

/// Gives bytes that have been read before, then the rest.
private final class PrefixedSource: LinkSource {
    private let prefix: Mutex<[UInt8]>
    private let rest: LinkReader

    init(_ prefix: [UInt8], _ rest: LinkReader) {
        self.prefix = Mutex(prefix)
        self.rest = rest
    }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        let first = prefix.withLock { prefix in
            defer { prefix = [] }
            return prefix
        }
        guard first.isEmpty else { return first }
        var rest = rest
        return try await rest.next(within: limit)
    }
}
