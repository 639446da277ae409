import ShipProtocol
import Synchronization
import Testing

@testable import ShipLinks

private let patience = Duration.seconds(10)

@Suite struct `A link over messages` {

    /// What one end sends for these bytes, and its end.
    private func messages(of bytes: [UInt8], atMost size: Int = 12) async throws -> [[UInt8]] {
        let sent = Messages()
        let link = MessageLink(receiving: AsyncStream<[UInt8]> { nil }, atMost: size) { sent.add($0) }
        try await link.write(bytes, within: patience)
        try await link.finish()
        try await link.finish()
        return sent.all
    }

    private func read(_ messages: [[UInt8]]) async throws -> [UInt8] {
        let (stream, sender) = AsyncStream<[UInt8]>.makeStream()
        for message in messages { sender.yield(message) }
        sender.finish()
        let link = MessageLink(receiving: stream, atMost: 12) { _ in }
        var bytes: [UInt8] = []
        while let piece = try await link.read(within: patience) { bytes += piece }
        return bytes
    }

    @Test func `numbers messages that are as long as they may be, and ends with an empty one`() async throws {
        let messages = try await messages(of: [1, 2, 3, 4, 5])
        #expect(
            messages == [
                [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4], [0, 0, 0, 0, 0, 0, 0, 1, 5], [0, 0, 0, 0, 0, 0, 0, 2],
            ])
    }

    @Test func `takes each once, in order, whatever comes twice or too early`() async throws {
        let bytes = (0..<100).map { UInt8($0) }
        var messages = try await messages(of: bytes)
        messages = messages + messages
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20 { #expect(try await read(messages.shuffled(using: &random)) == bytes) }
    }

    @Test func `is cut where its end has not come`() async throws {
        let messages = try await messages(of: [1, 2, 3, 4, 5]).dropLast()
        await #expect(throws: LinkError.closedByPeer) { try await read(Array(messages)) }
    }

    @Test func `holds no more than it may for one that is missing`() async throws {
        let bytes = [UInt8](repeating: 7, count: 4 * (MessageLink.mostEarly + 2))
        let messages = try await messages(of: bytes).dropFirst()
        await #expect(throws: LinkError.carrierFailed("missing(0)")) { try await read(Array(messages)) }
    }

    @Test(arguments: [7, 13]) func `takes no message of a wrong length`(length: Int) async throws {
        await #expect(throws: LinkError.carrierFailed("badLength(\(length))")) {
            try await read([[UInt8](repeating: 0, count: length)])
        }
    }
}

private final class Messages: Sendable {
    private let messages = Mutex<[[UInt8]]>([])

    var all: [[UInt8]] { messages.withLock { $0 } }

    func add(_ message: [UInt8]) { messages.withLock { $0.append(message) } }
}
