import ShipStore

/// - Parameters:
///   - messages: What the other side has sent.
///   - send: Sends one.
func carry(
    _ messages: AsyncStream<[UInt8]>, sending send: @escaping @Sendable ([UInt8]) async throws -> Void
) async throws {
    let link = MessageLink(receiving: messages, sending: send)
    let deliveries = try await Producer("Recipes.sqlite").send(to: link, named: "watch")
    print(deliveries.map(\.bytesSent))
}
