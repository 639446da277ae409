import Foundation
import TestSupport
import Testing

/// Many who connect to a listener and are nobody that it knows: whoever it knows is served all the same, and nothing of the
/// others stays.
@Suite struct CrowdTests {
    private let desk: Desk
    private let receiver: Receiver

    init() async throws {
        desk = try Desk()
        try desk.makeStore()
        let (phone, watch) = (try await desk.id(of: "phone"), try await desk.id(of: "watch"))
        try await desk.run("trust", phone, "--identity", "watch", "--role", "sender", "-q").expectSuccess()
        try await desk.run("trust", watch, "--identity", "phone", "--role", "receiver", "-q").expectSuccess()
        receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
    }

    private func send() async throws -> Duration {
        let start = ContinuousClock.now
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone").expectSuccess()
        return .now - start
    }

    /// The receiver's open files, once there are no more of them than before, or after ten seconds.
    private func openFiles(atMost count: Int) async throws -> Int {
        let folder = "/proc/\(receiver.program.processID)/fd"
        var open = Int.max
        for _ in 0..<100 {
            open = try FileManager.default.contentsOfDirectory(atPath: folder).count
            if open <= count { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        return open
    }

    @Test func `five hundred that say a byte now and then keep no sender waiting`() async throws {
        let alone = try await send()
        let before = try await openFiles(atMost: .max)
        let crowd = try (0..<500).map { try RawSocket.connected(to: receiver.port, from: UInt8(2 + $0 % 10)) }
        // The beginning of a TLS record that is not to end soon.
        let dripping = Task {
            for byte in [22, 3, 1, 0x3F, 0xFF] + [UInt8](repeating: 1, count: 1000) {
                // Those that were closed for newer ones do not take it.
                for socket in crowd { try? socket.write([byte]) }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        defer { dripping.cancel() }
        try await Task.sleep(for: .milliseconds(200))
        #expect(try await openFiles(atMost: .max) > before + 200)
        let among = try await send()
        // Nobody has waited for a timeout of theirs, which is ten seconds.
        #expect(among < max(alone * 2, .seconds(5)))
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        dripping.cancel()
        try await receiver.stop().expectSuccess()
    }

    /// One device has as many sessions as the receiver serves at a time, and says in each that it is at work; strangers are
    /// silent.
    @Test func `a quick sender waits for none of the slow and silent ones`() async throws {
        let slow = try await desk.id(of: "slow")
        try await desk.run("trust", slow, "--identity", "watch", "--role", "sender", "-q").expectSuccess()
        let rounds = Soak.isOn ? 20 : 3
        var (alone, among) = ([Duration](), [Duration]())
        for _ in 0..<rounds { alone.append(try await send()) }
        let crowd = try (0..<500).map { try RawSocket.connected(to: receiver.port, from: UInt8(2 + $0 % 10)) }
        let sessions = try SlowSessions(64, as: desk["slow/identity.pem"], to: receiver.port)
        try await sessions.begin()
        for _ in 0..<rounds { among.append(try await send()) }
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        // The middle one of each: a machine that is busy with something else delays one or the other.
        let (before, after) = (alone.sorted()[rounds / 2], among.sorted()[rounds / 2])
        // A shipment takes some hundredths of a second, and whom it would wait for says a word in seconds.
        #expect(after < before * 2 + .milliseconds(500), "\(before) alone, \(after) among others")
        #expect(sessions.isOpen)
        _ = crowd
    }

    @Test func `whoever has few connections is not pushed out by whoever has many`() async throws {
        let patient = try RawSocket.connected(to: receiver.port, from: 3)
        try await Task.sleep(for: .milliseconds(100))
        let crowd = try (0..<400).map { _ in try RawSocket.connected(to: receiver.port, from: 2) }
        try await Task.sleep(for: .milliseconds(300))
        #expect(patient.isQuiet)
        #expect(crowd.prefix(140).allSatisfy { !$0.isQuiet })
        #expect(crowd.suffix(50).allSatisfy { $0.isQuiet })
    }

    /// Ten thousand, or in a short run fewer.
    @Test func `thousands of connections leave no file open`() async throws {
        _ = try await send()
        let before = try await openFiles(atMost: .max)
        for count in 0..<(Soak.isOn ? 10_000 : 2000) {
            let socket = try RawSocket.connected(to: receiver.port)
            // One in ten says something first, one in a hundred something that TLS would.
            if count.isMultiple(of: 10) { try? socket.write(Array("GET / HTTP/1.1\r\n\r\n".utf8)) }
            if count.isMultiple(of: 100) { try? socket.write([22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]) }
        }
        #expect(try await openFiles(atMost: before) <= before)
        _ = try await send()
        try await receiver.stop().expectSuccess()
    }
}
