import NIOCore
import ShipProtocol
import ShipTransport
import TestSupport
import Testing

@Suite struct `A link over a socket` {

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `carries bytes both ways, and each side ends for itself`(host: String) async throws {
        try await roundTrip(host)
    }

    @Test func `carries bytes over IPv6`() async throws {
        do {
            try await roundTrip("::1")
        } catch LinkError.notOurAddress {
            try Test.cancel("this machine has no ::1")
        }
    }

    private func roundTrip(_ host: String) async throws {
        let bytes = pattern(3_000_000)
        let back = try await withListener(on: .tcp(host: host, port: 0), handler: echo) { address in
            try await PeerLink.withLink(to: address) { link throws in
                #expect(link.direction == .twoWay)
                async let sent: Void = send(bytes, over: link.writer)
                let reader = link.reader
                let back = try await reader.all()
                try await sent
                return back
            }
        }
        #expect(back == bytes)
    }

    @Test func `reads on after its own side has ended`() async throws {
        try await withListener { link in
            let reader = link.reader
            let asked = try? await reader.all()
            try? await link.writer.write(Array("got \(asked?.count ?? -1)".utf8), within: patience)
        } _: { address in
            try await PeerLink.withLink(to: address) { link throws in
                try await link.writer.write([1, 2, 3], within: patience)
                try await link.writer.finish()
                try await link.writer.finish()
                let reader = link.reader
                #expect(try await reader.all() == Array("got 3".utf8))
                #expect(try await reader.next(within: patience) == nil)
            }
        }
    }

    @Test func `says that the other side has gone before what came from it is read`() async throws {
        let (found, signal) = AsyncStream.makeStream(of: (Bool, Bool, Int?).self)
        try await withListener { link in
            let reader = link.reader
            let first = try? await reader.next(within: patience)
            let before = reader.hasEnded
            try? await link.writer.write([1], within: patience)
            let limit = ContinuousClock.now + patience
            while !reader.hasEnded, .now < limit { try? await Task.sleep(for: .milliseconds(2)) }
            signal.yield((before, reader.hasEnded, (try? await reader.all()).map { $0.count + (first?.count ?? 0) }))
        } _: { address in
            try await PeerLink.withLink(to: address) { link throws in
                try await link.writer.write([7], within: patience)
                #expect(try await link.reader.next(within: patience) == [1])
                try await link.writer.write(pattern(150_000), within: patience)
                try await link.writer.finish()
                let (before, after, count) = await found.first { _ in true } ?? (true, false, nil)
                #expect(!before && after && count == 150_001)
            }
        }
    }

    @Test func `writes on after the other side has ended`() async throws {
        let (counts, signal) = AsyncStream.makeStream(of: Int?.self)
        try await withListener { link in
            try? await link.writer.finish()
            let reader = link.reader
            signal.yield(try? await reader.all().count)
        } _: { address in
            try await PeerLink.withLink(to: address) { link throws in
                let reader = link.reader
                #expect(try await reader.next(within: patience) == nil)
                try await link.writer.write(pattern(700_000), within: patience)
            }
            #expect(await counts.first { _ in true } == 700_000)
        }
    }

    @Test func `says that nothing came in time, and loses nothing by it`() async throws {
        let (goOn, signal) = AsyncStream.makeStream(of: Void.self)
        try await withListener { link in
            for await _ in goOn { break }
            try? await link.writer.write([42], within: patience)
        } _: { address in
            try await PeerLink.withLink(to: address) { link throws in
                let reader = link.reader
                await #expect(throws: LinkError.timedOut(.reading)) {
                    let reader = link.reader
                    return try await reader.next(within: .milliseconds(30))
                }
                signal.yield()
                #expect(try await reader.next(within: patience) == [42])
            }
        }
    }

    @Test func `takes only a bounded number of bytes for a peer that does not read, and then says so`() async throws {
        let options = linkOptions { $0.lingerTime = .milliseconds(50) }
        try await withRawListener { address in
            try await PeerLink.withLink(to: address, options) { link throws in
                var taken = 0
                let start = ContinuousClock.now
                let error = await #expect(throws: LinkError.self) {
                    while taken < 100_000_000 {
                        try await link.writer.write(pattern(65536), within: .milliseconds(200))
                        taken += 65536
                    }
                }
                #expect(error == .timedOut(.writing))
                #expect(taken < 8_000_000)
                #expect(.now - start >= .milliseconds(200))
            }
        }
    }

    @Test func `gives a slow peer time as long as it takes anything`() async throws {
        // 16 MB at 64 KiB every 10 ms or more take several times the limit.
        try await withListener { link in
            let reader = link.reader
            while (try? await reader.next(within: patience)) != nil {
                try? await Task.sleep(for: .milliseconds(10))
            }
        } _: { address in
            let start = ContinuousClock.now
            try await PeerLink.withLink(to: address) { link throws in
                try await link.writer.write(pattern(16_000_000), within: .milliseconds(800))
            }
            #expect(.now - start > .milliseconds(1600))
        }
    }

    @Test func `lets the reader's pace slow the sender down`() async throws {
        let (goOn, signal) = AsyncStream.makeStream(of: Void.self)
        try await withListener { link in
            // Reads one piece only, then waits.
            let reader = link.reader
            _ = try? await reader.next(within: patience)
            for await _ in goOn { break }
            _ = try? await reader.all()
        } _: { address in
            try await PeerLink.withLink(to: address) { link throws in
                var taken = 0
                _ = await #expect(throws: LinkError.timedOut(.writing)) {
                    while taken < 100_000_000 {
                        try await link.writer.write(pattern(65536), within: .milliseconds(200))
                        taken += 65536
                    }
                }
                #expect(taken < 4_000_000)
                signal.yield()
            }
        }
    }

    @Test func `hears the last word of a peer that reset it, after a write has failed`() async throws {
        for _ in 0..<20 {
            try await withRawListener(onConnection: { channel in
                // Closing with bytes unread makes TCP send a reset right behind the word.
                channel.writeAndFlush(channel.allocator.buffer(string: "refused")).whenComplete { _ in
                    channel.eventLoop.scheduleTask(in: .milliseconds(20)) { channel.close(promise: nil) }
                }
            }) { address in
                try await PeerLink.withLink(to: address) { link throws in
                    await #expect(throws: LinkError.closedByPeer) {
                        while true { try await link.writer.write(pattern(65536), within: patience) }
                    }
                    let reader = link.reader
                    #expect(try await reader.next(within: patience) == Array("refused".utf8))
                    // The system tells of a reset once: the writer has heard of it.
                    let end = await #expect(throws: LinkError.self) {
                        guard try await reader.next(within: patience) == nil else { return }
                        throw LinkError.closedByPeer
                    }
                    #expect(end == .closedByPeer)
                }
            }
        }
    }

    @Test func `is closed so that the peer still gets the last word, however much it is sending`() async throws {
        try await withListener { link in
            try? await link.writer.write(Array("refused".utf8), within: patience)
        } _: { address in
            try await PeerLink.withLink(to: address) { link throws in
                for _ in 0..<100 { try await link.writer.write(pattern(65536), within: patience) }
                let reader = link.reader
                #expect(try await reader.all() == Array("refused".utf8))
            }
        }
    }

    @Test func `to a port that nobody listens on is refused, by name and by address`() async {
        // In a process of its own: what another test starts meanwhile inherits NIO's sockets, and they listen on.
        await #expect(processExitsWith: .success) {
            let gone = try await withListener(handler: echo) { $0 }
            await #expect(throws: LinkError.refused(gone)) { try await PeerLink.withLink(to: gone) { _ in } }
            guard case .tcp(_, let port) = gone else { return }
            let error = await #expect(throws: LinkError.self) {
                try await PeerLink.withLink(to: .tcp(host: "localhost", port: port)) { _ in }
            }
            guard case .refused = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `to a name that nobody has says so`() async throws {
        let error = await #expect(throws: LinkError.self) {
            try await PeerLink.withLink(to: .tcp(host: "no-such-host.invalid", port: 1)) { _ in }
        }
        guard case .couldNotResolve("no-such-host.invalid", let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test(arguments: ["192.0.2.1", "0.0.0.0", "2001:db8::1", "::ffff:192.0.2.1", "3221225985"])
    func `goes to this machine only unless asked otherwise`(host: String) async throws {
        let connecting = await #expect(throws: LinkError.self) {
            try await PeerLink.withLink(to: .tcp(host: host, port: 9)) { _ in }
        }
        let listening = await #expect(throws: LinkError.self) {
            try await Listener.serve(on: .tcp(host: host, port: 0)) { _ in true }
        }
        for error in [connecting, listening] {
            guard case .notLoopback = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `to a listener whose queue is full times out`() async throws {
        let options = linkOptions {
            $0.connectTimeout = .milliseconds(150)
            $0.lingerTime = .zero
        }
        try await withRawListener(backlog: 0, accepting: false) { address in
            // The first ones fill the queue.
            await #expect(throws: LinkError.timedOutConnecting(address)) {
                try await PeerLink.withLink(to: address, options) { _ in
                    try await PeerLink.withLink(to: address, options) { _ in
                        try await PeerLink.withLink(to: address, options) { _ in
                            try await PeerLink.withLink(to: address, options) { _ in }
                        }
                    }
                }
            }
        }
    }

    @Test func `that is cancelled while it connects leaves no descriptor behind`() async {
        await #expect(processExitsWith: .success) {
            try await withRawListener(backlog: 0, accepting: false) { address in
                func round() async {
                    let clients = (0..<4).map { _ in
                        Task {
                            try await PeerLink.withLink(to: address) { _ in try await Task.sleep(for: .seconds(60)) }
                        }
                    }
                    try? await Task.sleep(for: .milliseconds(30))
                    for client in clients { client.cancel() }
                    for client in clients { _ = await client.result }
                }
                for _ in 0..<3 { await round() }
                let baseline = OpenDescriptors.count
                for _ in 0..<10 { await round() }
                let left = try await OpenDescriptors.settle(at: baseline)
                #expect(left <= baseline)
            }
        }
    }

    private func send(_ bytes: [UInt8], over writer: any LinkWriter) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            try await writer.write(Array(rest.prefix(200_000)), within: patience)
            rest = rest.dropFirst(200_000)
        }
        try await writer.finish()
    }
}
