import Crypto
import DeviceTrust
import FoundationEssentials
import ShipTransport
import StoreFiles
import SwiftASN1
import Synchronization
import SystemPackage
import Testing
import X509

/// Links between devices that know each other, and those who would like to be in their place.
@Suite struct `A link between devices` {
    private let (server, client, stranger): (DeviceIdentity, DeviceIdentity, DeviceIdentity)

    init() throws {
        server = try DeviceIdentity()
        client = try DeviceIdentity()
        stranger = try DeviceIdentity()
    }

    private func options(_ own: DeviceIdentity, trusting others: DeviceIdentity...) -> LinkOptions {
        let ids = Set(others.map(\.id))
        return secured(own) { ids.contains($0) }
    }

    @Test func `carries bytes both ways, and each side knows the other`() async throws {
        let seen = Mutex<DeviceIdentifier?>(nil)
        try await withListener(options(server, trusting: client)) { link in
            seen.withLock { $0 = link.device }
            await echo(link)
        } _: { address in
            let link = options(client, trusting: server)
            try await PeerLink.withLink(to: address, link) { link throws in
                #expect(link.device == server.id)
                let bytes = pattern(3_000_000)
                async let sent: Void = send(bytes, over: link.writer)
                let reader = link.reader
                #expect(try await reader.all() == bytes)
                try await sent
            }
        }
        #expect(seen.withLock { $0 } == client.id)
    }

    @Test func `goes beyond this machine`() async throws {
        let options = options(server, trusting: client)
        try await withListener(on: .tcp(host: "0.0.0.0", port: 0), options, handler: echo) { address in
            guard case .tcp("0.0.0.0", let port) = address else {
                Issue.record("\(address)")
                return
            }
            let link = self.options(client, trusting: server)
            try await PeerLink.withLink(to: .tcp(host: "127.0.0.1", port: port), link) { _ in }
        }
    }

    /// With TLS 1.3 the client may be writing already when it is turned away: it is told all the same, each time.
    @Test func `is not had by a stranger, who is told so`() async throws {
        let turnedAway = Mutex<[LinkError]>([])
        let handled = Mutex(0)
        try await withListener(
            options(server, trusting: client), onTurnedAway: { _, error in turnedAway.withLock { $0.append(error) } },
            handler: { _ in handled.withLock { $0 += 1 } },
            { address in
                for _ in 0..<40 {
                    await #expect(throws: LinkError.notTrustedThere(stranger.id)) {
                        try await PeerLink.withLink(to: address, options(stranger, trusting: server)) { link throws in
                            try await link.writer.write(pattern(10_000), within: patience)
                            let reader = link.reader
                            while try await reader.next(within: patience) != nil {}
                        }
                    }
                }
            })
        #expect(turnedAway.withLock { $0 } == Array(repeating: .notTrusted(stranger.id), count: 40))
        #expect(handled.withLock { $0 } == 0)
    }

    @Test func `is not had with a listener that is a stranger`() async throws {
        let handled = Mutex(0)
        try await withListener(
            options(stranger, trusting: client), handler: { _ in handled.withLock { $0 += 1 } },
            { address in
                await #expect(throws: LinkError.notTrusted(stranger.id)) {
                    try await PeerLink.withLink(to: address, options(client, trusting: server)) { _ in }
                }
            })
        #expect(handled.withLock { $0 } == 0)
    }

    @Test func `is asked for anew each time, so that trust can end`() async throws {
        let isTrusted = Mutex(true)
        let options = secured(server) { _ in isTrusted.withLock { $0 } }
        try await withListener(options, handler: echo) { address in
            let link = self.options(client, trusting: server)
            try await PeerLink.withLink(to: address, link) { _ in }
            isTrusted.withLock { $0 = false }
            await #expect(throws: LinkError.notTrustedThere(client.id)) {
                try await PeerLink.withLink(to: address, link) { link throws in
                    let reader = link.reader
                    _ = try await reader.next(within: patience)
                }
            }
        }
    }

    /// Neither side is told that it is not trusted: it tries again.
    @Test func `is not had while nobody can say who is trusted, which is told where it is so`() async throws {
        let failure = FileError(.open, "peers.json", .tooManyOpenFiles)
        @Sendable func fail(_: DeviceIdentifier) throws -> Bool { throw IdentityError.file(failure) }
        let turnedAway = Mutex<[LinkError]>([])
        try await withListener(
            secured(server, admitting: fail), onTurnedAway: { _, error in turnedAway.withLock { $0.append(error) } },
            handler: echo,
            { address in
                for _ in 0..<20 {
                    await #expect(throws: LinkError.closedByPeer) {
                        try await PeerLink.withLink(to: address, options(client, trusting: server)) { link throws in
                            let reader = link.reader
                            guard try await reader.next(within: patience) != nil else { throw LinkError.closedByPeer }
                        }
                    }
                }
            })
        #expect(turnedAway.withLock { $0 } == Array(repeating: .file(failure), count: 20))
        try await withListener(options(server, trusting: client), handler: echo) { address in
            await #expect(throws: LinkError.file(failure)) {
                try await PeerLink.withLink(to: address, secured(client, admitting: fail)) { _ in }
            }
        }
    }

    @Test func `does not look at dates`() async throws {
        let day = 86_400.0
        for (start, end) in [(-20 * day, -10 * day), (10 * day, 20 * day), (-40_000 * day, -39_999 * day)] {
            let now = Date()
            let odd = try DeviceIdentity.valid(from: now.addingTimeInterval(start), to: now.addingTimeInterval(end))
            try await withListener(options(odd, trusting: client), handler: echo) { address in
                try await PeerLink.withLink(to: address, options(client, trusting: odd)) { link throws in
                    #expect(link.device == odd.id)
                }
            }
            try await withListener(options(server, trusting: odd), handler: echo) { address in
                try await PeerLink.withLink(to: address, options(odd, trusting: server)) { link throws in
                    try await link.writer.write([1], within: patience)
                    let reader = link.reader
                    #expect(try await reader.next(within: patience) == [1])
                }
            }
        }
    }

    @Test func `is not to be had with a side that does not encrypt`() async throws {
        try await withListener(options(server, trusting: client), handler: echo) { address in
            await #expect(throws: LinkError.onlyTLSThere) {
                try await PeerLink.withLink(to: address) { link throws in
                    try await link.writer.write(pattern(100), within: patience)
                    let reader = link.reader
                    _ = try await reader.next(within: patience)
                }
            }
        }
        try await withListener(
            handler: { try? await $0.writer.write(pattern(100), within: patience) },
            { address in
                await #expect(throws: LinkError.noTLSThere) {
                    try await PeerLink.withLink(to: address, options(client, trusting: server)) { _ in }
                }
            })
    }

    @Test func `is had at once, however many connect and say nothing`() async throws {
        var options = options(server, trusting: client)
        options.maximumConnections = 2
        options.maximumHandshakes = 8
        try await withListener(options, handler: echo) { address in
            try await withThrowingTaskGroup { group in
                for _ in 0..<40 {
                    group.addTask {
                        // A link that asks nobody anything, and says nothing.
                        _ = try? await PeerLink.withLink(to: address) { _ in try await Task.sleep(for: .seconds(60)) }
                    }
                }
                try await Task.sleep(for: .milliseconds(300))
                let start = ContinuousClock.now
                try await PeerLink.withLink(to: address, self.options(client, trusting: server)) { link throws in
                    try await link.writer.write([1], within: patience)
                    let reader = link.reader
                    #expect(try await reader.next(within: patience) == [1])
                }
                #expect(.now - start < .seconds(5))
                group.cancelAll()
            }
        }
    }

    @Test func `must be begun in time`() async throws {
        var options = options(server, trusting: client)
        options.handshakeTimeout = .milliseconds(100)
        try await withListener(options, handler: echo) { address in
            try await PeerLink.withLink(to: address) { link throws in
                let reader = link.reader
                #expect(try await reader.next(within: patience) == nil)
            }
        }
        // Nor does a client wait forever.
        try await withRawListener { address in
            var options = self.options(client, trusting: server)
            options.connectTimeout = .milliseconds(200)
            await #expect(throws: LinkError.timedOutConnecting(address)) {
                try await PeerLink.withLink(to: address, options) { _ in }
            }
        }
    }

    private func send(_ bytes: [UInt8], over writer: any LinkWriter) async throws {
        try await writer.write(bytes, within: patience)
        try await writer.finish()
    }
}

extension DeviceIdentity {
    /// A device whose certificate has these dates.
    static func valid(from start: Date, to end: Date) throws -> DeviceIdentity {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("ship-store device") }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey), notValidBefore: start,
            notValidAfter: end, issuer: name, subject: name, extensions: .init(), issuerPrivateKey: .init(key))
        return try DeviceIdentity(
            pem: key.pemRepresentation + "\n" + certificate.serializeAsPEM().pemString, in: "identity.pem")
    }
}
