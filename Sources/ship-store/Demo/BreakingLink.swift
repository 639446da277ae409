import ShipTransport

/// A link that breaks: what comes from the sender goes on to a receiver, and after some of it both ends are closed.
enum BreakingLink {
    private static let patience = Duration.seconds(10)

    /// Listens for as long as `body` runs.
    ///
    /// - Parameters:
    ///   - receiver: Where it leads.
    ///   - most: Bytes of the sender that get there.
    ///   - body: Is given the address of the sender's end.
    static func with(
        to receiver: Endpoint, after most: Int, _ body: @escaping @Sendable (_ address: String) async throws -> Void
    ) async throws {
        let (addresses, continuation) = AsyncStream<String>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await Listener.serve(
                    on: .tcp(host: "127.0.0.1", port: 0), onListening: { continuation.yield("\($0)") }
                ) { near in
                    try? await Connector.withLink(to: receiver) { try await carry(near, $0, most) }
                    return .end
                }
                continuation.finish()
            }
            for await address in addresses {
                try await body(address)
                break
            }
            group.cancelAll()
        }
    }

    private static func carry(_ near: PeerLink, _ far: PeerLink, _ most: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var (reader, left) = (near.reader, most)
                while left > 0, let bytes = try await reader.next(within: patience) {
                    try await far.writer.write(Array(bytes.prefix(left)), within: patience)
                    left -= bytes.count
                }
            }
            group.addTask {
                var reader = far.reader
                while let bytes = try await reader.next(within: patience) {
                    try await near.writer.write(bytes, within: patience)
                }
            }
            // Whichever side ends it, both are closed.
            try await group.next()
            group.cancelAll()
        }
    }
}
