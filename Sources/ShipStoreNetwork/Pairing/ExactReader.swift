import ShipTransport

/// Reads as many bytes as are asked for, whatever pieces they come in.
struct ExactReader {
    private var reader: LinkReader
    private let deadline: ContinuousClock.Instant
    private var waiting: [UInt8] = []

    /// - Parameter limit: How long all that is read may take to come.
    init(_ reader: LinkReader, within limit: Duration) {
        self.reader = reader
        deadline = .now + limit
    }

    /// What has come and was not asked for.
    var rest: [UInt8] { waiting }

    mutating func next(_ count: Int) async throws -> [UInt8] {
        try await fill(count)
        guard waiting.count >= count else { throw LinkError.closedByPeer }
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }

    /// Whether the first thing to come is this; it stays to be read.
    mutating func begins(with bytes: [UInt8]) async throws -> Bool {
        try await fill(bytes.count)
        return waiting.starts(with: bytes)
    }

    private mutating func fill(_ count: Int) async throws {
        while waiting.count < count {
            guard let piece = try await reader.next(within: max(.zero, deadline - .now)) else { return }
            waiting += piece
        }
    }
}
