import ShipCompression
import ShipProtocol
import StoreEncoding
import StoreFiles
import Testing

@testable import ShipStore

/// Stores that go by their rows, with a codec that does as it is told.
@Suite struct `A store that goes by its rows` {
    @Test func `is installed over a socket, and nobody asks again`() async throws {
        let exchange = try Exchange()
        try exchange.expectInstalled(try await exchange.overSocket().receipt)
        #expect(exchange.restarts.isEmpty && exchange.questions == 0)
        #expect(exchange.progressIsWhole)
    }

    @Test func `is installed through a pipe`() async throws {
        let exchange = try Exchange()
        try exchange.expectInstalled(try await exchange.throughPipe())
        #expect(exchange.restarts.isEmpty)
        #expect(exchange.progressIsWhole)
    }

    @Test func `is in a file as rows, and installed from it`() async throws {
        let exchange = try Exchange()
        let file = try await exchange.intoFile()
        let bytes = try OpenFile.reading(file).read(10_000_000, at: 0)
        #expect(try StreamElement.encodings(in: bytes).first == .columns)
        try exchange.expectInstalled(try await exchange.receive(file))
    }

    @Test(arguments: [
        StubCodec.Decoding.fails(after: 0), .fails(after: 1), .fails(after: 3), .failsInTheEnd, .makesOtherBytes,
    ])
    func `and cannot be made by the consumer comes again in blocks`(decoding: StubCodec.Decoding) async throws {
        var exchange = try Exchange()
        exchange.receiving?.decoding = decoding
        try exchange.expectInstalled(try await exchange.overSocket().receipt)
        #expect(exchange.restarts == [.notMadeByConsumer])
        #expect(exchange.questions == 1)
        #expect(exchange.progressIsWhole)
    }

    @Test func `and was encoded wrongly without being checked comes again in blocks`() async throws {
        var exchange = try Exchange()
        exchange.sending.encoding = .wrong
        try exchange.expectInstalled(try await exchange.overSocket().receipt)
        #expect(exchange.restarts == [.notMadeByConsumer])
        #expect(exchange.questions == 1)
    }

    @Test func `comes again without the external files that came with it`() async throws {
        var exchange = try Exchange(externalFiles: 2)
        exchange.receiving?.decoding = .makesOtherBytes
        let delivery = try await exchange.overSocket()
        try exchange.expectInstalled(delivery.receipt)
        #expect(exchange.restarts == [.notMadeByConsumer])
        #expect(exchange.progressIsWhole)
    }

    @Test(arguments: [
        StubCodec.Encoding.selfCheckFails(after: 0), .selfCheckFails(after: 2), .selfCheckFailsInTheEnd,
    ])
    func `and does not stand its self-check begins again at once`(encoding: StubCodec.Encoding) async throws {
        for externalFiles in [0, 2] {
            var exchange = try externalFiles == 0 ? Exchange() : Exchange(externalFiles: externalFiles)
            exchange.sending.encoding = encoding
            exchange.sending.pieceSize = 8192
            try exchange.expectInstalled(try await exchange.overSocket().receipt)
            #expect(exchange.restarts == [.selfCheckFailed])
            #expect(exchange.questions == 0)
            #expect(exchange.progressIsWhole)
        }
    }

    @Test(arguments: [
        StubCodec.Encoding.selfCheckFails(after: 0), .selfCheckFails(after: 2), .selfCheckFailsInTheEnd,
    ])
    func `and does not stand its self-check arrives through a pipe too`(encoding: StubCodec.Encoding) async throws {
        var exchange = try Exchange()
        exchange.sending.encoding = encoding
        // The consumer has noticed already, and keeps it to itself.
        exchange.receiving?.decoding = .fails(after: 1)
        try exchange.expectInstalled(try await exchange.throughPipe())
        #expect(exchange.restarts == [.selfCheckFailed])
    }

    @Test(arguments: [StubCodec.Decoding.fails(after: 1), .failsInTheEnd, .makesOtherBytes])
    func `and cannot be made by a consumer that may not ask is refused`(decoding: StubCodec.Decoding) async throws {
        for externalFiles in [0, 2] {
            var exchange = try externalFiles == 0 ? Exchange() : Exchange(externalFiles: externalFiles)
            exchange.receiving?.decoding = decoding
            let error = await #expect(throws: ShipmentError.self) { try await exchange.throughPipe() }
            #expect(error?.code == "damaged" && error?.commandStatus == 65)
            let state = InboxProbe(exchange.inbox, store: "Recipes").state
            #expect(state.current == nil && state.generations.isEmpty && state.staged.isEmpty)
        }
    }

    @Test func `goes in blocks where it would not come back`() async throws {
        var exchange = try Exchange()
        exchange.sending.encoding = .unsuitable
        try exchange.expectInstalled(try await exchange.overSocket().receipt)
        #expect(exchange.restarts == [.unsuitable])
    }

    @Test func `goes in blocks to a consumer that takes no rows`() async throws {
        var exchange = try Exchange()
        exchange.receiving = nil
        try exchange.expectInstalled(try await exchange.overSocket().receipt)
        #expect(exchange.restarts.isEmpty && exchange.questions == 0)
    }

    @Test func `goes in blocks where the user says so`() async throws {
        var exchange = try Exchange()
        exchange.options.encoding = .blocks
        // Rows would be refused.
        exchange.receiving?.decoding = .fails(after: 0)
        try exchange.expectInstalled(try await exchange.overSocket().receipt)
        #expect(exchange.questions == 0)
    }
}
