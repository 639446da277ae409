import DeviceTrust
import ShipTransport
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite struct `A listener` {
    @Test func `says that somebody else listens there`() async throws {
        try await withListener(handler: echo) { address in
            _ = await #expect(throws: LinkError.addressInUse(address)) {
                try await Listener.serve(on: address) { _ in true }
            }
        }
    }

    @Test func `says that an address is not this machine's`() async throws {
        let options = secured(try DeviceIdentity()) { _ in true }
        await #expect(throws: LinkError.notOurAddress(.tcp(host: "192.0.2.1", port: 0))) {
            try await Listener.serve(on: .tcp(host: "192.0.2.1", port: 0), options) { _ in true }
        }
    }

    @Test func `serves others while one is silent and another is reset`() async throws {
        try await withListener(handler: echo) { address in
            try await PeerLink.withLink(to: address) { _ in
                var hasty = LinkOptions()
                hasty.lingerTime = .zero
                for _ in 0..<20 {
                    try await PeerLink.withLink(to: address, hasty) { link throws in
                        try await link.writer.write(pattern(100_000), within: patience)
                    }
                }
                try await PeerLink.withLink(to: address) { link throws in
                    try await link.writer.write([1], within: patience)
                    let reader = link.reader
                    #expect(try await reader.next(within: patience) == [1])
                }
            }
        }
    }

    @Test func `serves no more at a time than it may, and the others afterwards`() async throws {
        let options = linkOptions { $0.maximumConnections = 3 }
        let served = Mutex((now: 0, most: 0))
        try await withListener(options) { link in
            served.withLock { count in
                count.now += 1
                count.most = max(count.most, count.now)
            }
            await echo(link)
            served.withLock { $0.now -= 1 }
        } _: { address in
            try await withThrowingTaskGroup { group in
                for number in 0..<UInt8(20) {
                    group.addTask {
                        try await PeerLink.withLink(to: address) { link throws in
                            try await link.writer.write([number], within: patience)
                            let reader = link.reader
                            #expect(try await reader.next(within: patience) == [number])
                            try await Task.sleep(for: .milliseconds(10))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(served.withLock { $0.most } == 3)
    }

    @Test func `stops at once when cancelled, whatever its connections do`() async throws {
        let stopped = try await withListener { link in
            let reader = link.reader
            _ = try? await reader.next(within: .seconds(60))
        } _: { address in
            async let _ = try PeerLink.withLink(to: address) { _ in try await Task.sleep(for: .seconds(60)) }
            try await Task.sleep(for: .milliseconds(50))
            return ContinuousClock.now
        }
        #expect(.now - stopped < .seconds(30))
    }

    @Test func `leaves no descriptor behind after 1,000 connections`() async {
        await #expect(processExitsWith: .success) {
            try await withListener(handler: echo) { address in
                for round in 0..<1_000 {
                    try await PeerLink.withLink(to: address) { link throws in
                        try await link.writer.write([7], within: patience)
                        let reader = link.reader
                        try #require(try await reader.next(within: patience) == [7])
                    }
                    if round == 9 { Baseline.count.withLock { $0 = OpenDescriptors.count } }
                }
                let baseline = Baseline.count.withLock { $0 }
                #expect(try await OpenDescriptors.settle(at: baseline) <= baseline)
            }
        }
    }

    @Test func `goes on after it has run out of descriptors`() async {
        await #expect(processExitsWith: .success) {
            try await withListener(handler: echo) { address in
                try await PeerLink.withLink(to: address) { _ in }
                // Every descriptor but the client's own is taken, so that accepting fails.
                var hoard: [FileDescriptor] = []
                while let descriptor = try? FileDescriptor.open("/dev/null", .readOnly) { hoard.append(descriptor) }
                try hoard.removeLast().close()
                try await PeerLink.withLink(to: address) { link throws in
                    try await link.writer.write([7], within: patience)
                    let reader = link.reader
                    await #expect(throws: LinkError.timedOut(.reading)) {
                        let reader = link.reader
                        return try await reader.next(within: .milliseconds(100))
                    }
                    for descriptor in hoard { try descriptor.close() }
                    #expect(try await reader.next(within: patience) == [7])
                }
            }
        }
    }

    @Test func `leaves no descriptor behind when it and its links are cancelled`() async {
        await #expect(processExitsWith: .success) {
            func round() async throws {
                try await withListener { link in
                    let reader = link.reader
                    _ = try? await reader.next(within: .seconds(60))
                } _: { address in
                    let clients = (0..<5).map { _ in
                        Task {
                            try await PeerLink.withLink(to: address) { link throws in
                                while true { try await link.writer.write(pattern(65536), within: .seconds(60)) }
                            }
                        }
                    }
                    try await Task.sleep(for: .milliseconds(10))
                    for client in clients { client.cancel() }
                    for client in clients { _ = await client.result }
                }
            }
            // The first round makes what the process then keeps.
            for _ in 0..<3 { try await round() }
            let baseline = OpenDescriptors.count
            for _ in 0..<20 { try await round() }
            #expect(try await OpenDescriptors.settle(at: baseline) <= baseline)
        }
    }
}

/// What an exit test remembers; it can capture nothing.
private enum Baseline {
    static let count = Mutex(0)
}
