import DeviceTrust
import Foundation
import ShipProtocol
import ShipStore
import ShipStoreNetwork
import ShipTransport
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Two devices that pair over real links, and somebody who would like to be between them.
@Suite struct `Pairing` {
    private let scratch: ScratchFolder
    private let (phone, watch, stranger): (Device, Device, Device)
    private let code = PairingCode()

    init() throws {
        scratch = try ScratchFolder()
        phone = Device(folder: scratch.path.appending("phone"))
        watch = Device(folder: scratch.path.appending("watch"))
        stranger = Device(folder: scratch.path.appending("stranger"))
    }

    /// Runs `body` while the watch waits for the code, or has it no more.
    private func whileWaiting(
        _ window: PairingWindow, _ events: @escaping @Sendable (ReceiveEvent) -> Void = { _ in },
        _ body: @escaping @Sendable (Endpoint) async throws -> Void
    ) async throws {
        var options = Consumer.Options()
        options.trust = .trustedPeers(of: watch)
        let consumer = try Consumer(inbox: scratch.path.appending("inbox"), options: options)
        let (addresses, continuation) = AsyncStream.makeStream(of: String.self)
        let listening = Task {
            defer { continuation.finish() }
            try await consumer.listen(on: Endpoint("127.0.0.1:0", toListen: true), pairingIn: window) { report in
                if case .listener(.listening(let address)) = report.event { continuation.yield(address) }
                events(report.event)
            }
        }
        defer { listening.cancel() }
        for await address in addresses { return try await body(Endpoint(address)) }
        try await listening.value
    }

    @Test func `makes both trust each other, once`() async throws {
        let window = PairingWindow(code, lasting: .seconds(60))
        try await whileWaiting(window) { [phone, watch, stranger, code] address in
            let peer = try await phone.pair(with: address, code)
            #expect(try peer.id == watch.identity().id && peer.roles == [.receiver])
            let peers = try watch.peers()
            #expect(try peers.map(\.id) == [phone.identity().id] && peers.first?.roles == [.sender])
            // The code is gone: with it nobody gets in any more.
            let own = try stranger.identity().id
            await #expect(throws: ShipmentError.link(.notTrustedThere(own))) {
                try await stranger.pair(with: address, code)
            }
        }
    }

    @Test func `leaves the code valid where whoever showed it can trust no more devices`() async throws {
        let window = PairingWindow(code, lasting: .seconds(60))
        let full = try watch.folder.changeTrustList { (list: inout TrustList) throws(TrustListError) -> Void in
            for number in 0..<TrustList.longest {
                let id = DeviceIdentifier(ofCertificate: [UInt8(number >> 8), UInt8(number & 255)])
                _ = try list.trust(id, .init(), at: Timestamp(Date()))
            }
        }
        try full.get()
        try await whileWaiting(window) { [phone, watch, code] address in
            await #expect(throws: ShipmentError.link(.closedByPeer)) { try await phone.pair(with: address, code) }
            #expect(try phone.peers().isEmpty && watch.peers().count == TrustList.longest)
            _ = try watch.distrust(DeviceIdentifier(ofCertificate: [0, 0]).text)
            let peer = try await phone.pair(with: address, code)
            #expect(try peer.id == watch.identity().id && watch.peers().last?.id == phone.identity().id)
        }
    }

    @Test func `does not with a wrong code, and not at all after five`() async throws {
        let wrong = try #require(PairingCode(code.text == "000-000" ? "000-001" : "000-000"))
        let window = PairingWindow(code, lasting: .seconds(60))
        _ = try watch.trust(DeviceIdentifier(ofCertificate: [9]))
        try await whileWaiting(window) { [phone, watch, code] address in
            for _ in 0..<5 {
                await #expect(throws: ShipmentError.pairing(.wrongCode)) {
                    try await phone.pair(with: address, wrong)
                }
            }
            let own = try phone.identity().id
            await #expect(throws: ShipmentError.link(.notTrustedThere(own))) {
                try await phone.pair(with: address, code)
            }
            #expect(try phone.peers().isEmpty && watch.peers().count == 1)
        }
    }

    @Test func `ends when nobody comes in time`() async throws {
        let window = PairingWindow(code, lasting: .milliseconds(300))
        await #expect(throws: ShipmentError.pairing(.over)) {
            try await whileWaiting(window) { _ in try await Task.sleep(for: .seconds(5)) }
            // The listener has ended by then, which `whileWaiting` does not wait for.
            var options = Consumer.Options()
            options.trust = .trustedPeers(of: watch)
            let consumer = try Consumer(inbox: scratch.path.appending("other"), options: options)
            try await consumer.listen(on: Endpoint("127.0.0.1:0", toListen: true), pairingIn: window)
        }
    }

    @Test func `is over in time for those who are there, and for those who come`() async throws {
        let duration = Duration.seconds(4)
        let window = PairingWindow(code, lasting: duration)
        _ = try watch.trust(DeviceIdentifier(ofCertificate: [9]))
        let own = try stranger.identity()
        try await whileWaiting(window) { [stranger, code] address in
            var options = LinkOptions()
            options.security = .mutualTLS(own) { _ in .full }
            try await PeerLink.withLink(to: address, options) { link throws in
                try await Task.sleep(for: duration)
                let other = try #require(link.device)
                try await link.writer.write(
                    try PairingInitiator(code, own: own.id, other: other, trustedAs: .receiver).start,
                    within: .seconds(10))
                var answer: [UInt8] = []
                while let piece = try await link.reader.next(within: .seconds(10)) { answer += piece }
                #expect(answer.first == 1)
            }
            await #expect(throws: ShipmentError.link(.notTrustedThere(own.id))) {
                try await stranger.pair(with: address, code)
            }
        }
        #expect(try watch.peers().count == 1)
    }

    /// The relay speaks TLS with both sides, with a certificate of its own, and passes on every byte as it is.
    @Test func `does not come about through a relay with certificates of its own`() async throws {
        let window = PairingWindow(code, lasting: .seconds(60))
        let phoneID = try phone.identity().id
        let passed = Passed()
        try await whileWaiting(window) { [phone, watch, stranger, code] address in
            var options = LinkOptions()
            options.security = .mutualTLS(try stranger.identity()) { _ in .full }
            let relayOptions = options
            let (relays, continuation) = AsyncStream.makeStream(of: Endpoint.self)
            let relay = Task {
                try await Listener.serve(
                    on: Endpoint("127.0.0.1:0", toListen: true), relayOptions,
                    onListening: { continuation.yield($0) }
                ) { inner in
                    #expect(inner.device == phoneID)
                    try? await PeerLink.withLink(to: address, relayOptions) { outer throws in
                        async let forth = pump(inner.reader, outer.writer)
                        async let back = pump(outer.reader, inner.writer)
                        let count = await forth + back
                        passed.bytes.withLock { $0 += count }
                    }
                    return true
                }
            }
            defer { relay.cancel() }
            var target: Endpoint?
            for await address in relays {
                target = address
                break
            }
            let relayAddress = try #require(target)
            await #expect(throws: ShipmentError.pairing(.wrongCode)) {
                try await phone.pair(with: relayAddress, code)
            }
            #expect(try phone.peers().isEmpty && watch.peers().isEmpty)
            // Without the relay the same code does.
            _ = try await phone.pair(with: address, code)
        }
        #expect(passed.bytes.withLock { $0 } >= 57 + 97)
    }

    @Test func `tells a stranger who does not pair nothing at all`() async throws {
        let window = PairingWindow(code, lasting: .seconds(60))
        let own = try stranger.identity()
        let events = Passed()
        try await whileWaiting(window) { event in
            switch event {
            case .listener(.turnedAway(_, .link(.notTrusted(own.id)))): events.bytes.withLock { $0 += 1 }
            case .connected, .failed: Issue.record("\(event)")
            default: break
            }
        } _: { address in
            var options = LinkOptions()
            options.security = .mutualTLS(own) { _ in .full }
            let preamble = Preamble(role: .producer, mode: .twoWay).encoded
            for words in [Array(preamble.prefix(8)), preamble, Array("GET / HTTP/1.1\r\n\r\n".utf8)] {
                try await PeerLink.withLink(to: address, options) { link throws in
                    // It may be cut off before it has said all, or be told so by the end of the link.
                    try? await link.writer.write(words, within: .seconds(10))
                    let reader = link.reader
                    let answer = try? await reader.next(within: .seconds(10))
                    #expect(answer == nil)
                }
            }
        }
        #expect(events.bytes.withLock { $0 } == 3)
    }
}

/// Counts what a relay has passed on.
private final class Passed: Sendable {
    let bytes = Mutex(0)
}

private func pump(_ reader: any LinkReader, _ writer: any LinkWriter) async -> Int {
    var count = 0
    while let piece = try? await reader.next(within: .seconds(10)) {
        count += piece.count
        guard (try? await writer.write(piece, within: .seconds(10))) != nil else { break }
    }
    try? await writer.finish()
    return count
}
