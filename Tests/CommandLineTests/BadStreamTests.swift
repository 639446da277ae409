import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Streams that are no whole shipment: said with the right status, and nothing comes of them.
@Suite struct BadStreamTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore(rows: 2000)
    }

    /// Receives the bytes through a pipe, and then a whole shipment.
    private func receive(
        _ bytes: [UInt8], _ status: Int32, _ error: String, hint: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let outcome = try await desk.run("receive", "--into", "inbox", "--from", "-", input: .bytes(bytes))
        outcome.expectFailure(status, error, hint: hint, sourceLocation: sourceLocation)
        #expect(try desk.leftovers == [], sourceLocation: sourceLocation)
        #expect(try await desk.run("list", "--into", "inbox").stdout == "", sourceLocation: sourceLocation)
        try await desk.run("receive", "--into", "inbox", "--from", "-", input: .bytes(try await desk.shipment()))
            .expectSuccess(sourceLocation: sourceLocation)
    }

    @Test func `garbage`() async throws {
        try await receive(
            Array("hello, is this the receiver?".utf8), 76, "this is no ship-store stream",
            hint:
                "at the other end something else writes than ship-store, or than ship-store alone: check the address, or the command"
        )
    }

    @Test func `nothing at all`() async throws {
        try await receive([], 76, "the stream ended early: the shipment is not whole", hint: "send it again")
    }

    @Test(arguments: [7, 40, 300, -10])
    func `a stream that ends early`(length: Int) async throws {
        let whole = try await desk.shipment()
        try await receive(
            Array(length < 0 ? whole.dropLast(-length) : whole.prefix(length)), 76,
            "the stream ended early: the shipment is not whole", hint: "send it again")
    }

    /// Somebody may have cut off a second shipment.
    @Test func `a stream without its end, of which the shipment stays`() async throws {
        let outcome = try await desk.run(
            "receive", "--into", "inbox", "--from", "-", input: .bytes(try await desk.shipment().dropLast(9)))
        #expect(outcome.status == .exited(76))
        #expect(outcome.complaints.first?.hasSuffix(": more may have been to come") == true)
        #expect(try await desk.run("list", "--into", "inbox").stdout.contains("Recipes"))
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: [13, 40, 300])
    func `a damaged stream`(offset: Int) async throws {
        var bytes = try await desk.shipment()
        bytes[offset] ^= 0x10
        try await receive(
            bytes, 65, "bytes were damaged on the way: a checksum is wrong", hint: "send it again")
    }

    @Test func `a version to come`() async throws {
        let preamble = Preamble(versions: 2...3, role: .producer, mode: .oneWay).encoded
        let bytes = preamble + (try await desk.shipment()).dropFirst(preamble.count)
        try await receive(
            bytes, 76, "the other side speaks protocol versions 2 to 3, this one version 1",
            hint: "update the older of the two programs")
    }

    @Test func `a sender that awaits an answer on a one-way link`() async throws {
        try await desk.shell("touch a").expectSuccess()
        let bytes = Preamble(role: .producer, mode: .twoWay).encoded
        _ = try await ChildProgram("/bin/sh", ["-c", "cat > a"], input: .bytes(bytes), in: desk.path).wait()
        try await desk.run("receive", "--into", "inbox", "--from", "./a").expectFailure(
            76, "the sender awaits an answer, and there is no way back on this link",
            hint: "keep shipments with `send --to FILE`, which awaits none; without --json `receive --from -` answers")
    }

    @Test func `a file that is not there, and one that is a folder`() async throws {
        let missing = try await desk.run("receive", "--into", "inbox", "--from", "monday.shipment")
        missing.expectFailure(
            66, "cannot open monday.shipment: No such file or directory", hint: "check the path")
        let folder = try await desk.run("receive", "--into", "inbox", "--from", ".//.")
        #expect(folder.status == .exited(65))
        #expect(folder.complaints.first?.hasPrefix("ship-store: error: cannot ") == true)
    }
}
