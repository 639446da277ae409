import ShipLinks
import ShipProtocol
import Synchronization
import TestSupport
import Testing

private let patience = Duration.seconds(30)

/// What several tasks write over the link of an app, which promises to take the bytes of one at a time.
@Suite struct `Writes of several tasks over an app's link` {
    private struct Cut: Error {}

    private func writer(
        taking write: @escaping @Sendable ([UInt8]) async throws -> Void,
        finish: @escaping @Sendable () async throws -> Void = {}
    ) -> any LinkWriter {
        let (stream, _) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let link = StreamLink(reading: stream, writing: write, finish: finish)
        return PeerLink(link, to: "phone", finishingWithin: patience).writer
    }

    /// A message says who has written it, and how long the rest of it is.
    private func message(_ number: UInt8, _ length: Int) -> [UInt8] {
        [number, UInt8(length >> 8), UInt8(length & 0xFF)] + [UInt8](repeating: number, count: length)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `stay whole, and come before the end, whoever gives up waiting`(seed: UInt64) async throws {
        var random = RepeatableRandom(seed: seed)
        let taken = Mutex<[UInt8]>([])
        let writer = writer { piece in
            try await Task.sleep(for: .milliseconds(1))
            taken.withLock { $0 += piece }
        } finish: {
            taken.withLock { $0.append(.max) }
        }
        var kept: Set<UInt8> = []
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<24 as Range<UInt8> {
                let message = message(number, Int.random(in: 0...20_000, using: &random))
                let patience = Bool.random(using: &random) ? Int.random(in: 0...60, using: &random) : nil
                if patience == nil { kept.insert(number) }
                group.addTask {
                    let write = Task { try await writer.write(message, within: .seconds(30)) }
                    if let patience {
                        try? await Task.sleep(for: .milliseconds(patience))
                        write.cancel()
                    }
                    _ = await write.result
                }
            }
        }
        try await writer.finish()
        var rest = taken.withLock { $0 }[...]
        var seen: Set<UInt8> = []
        while rest.count > 3, let number = rest.first {
            let whole = message(number, Int(rest[rest.startIndex + 1]) << 8 | Int(rest[rest.startIndex + 2]))
            try #require(rest.starts(with: whole) && seen.insert(number).inserted, "seed \(seed), message \(number)")
            rest = rest.dropFirst(whole.count)
        }
        #expect(Array(rest) == [.max] && seen.isSuperset(of: kept), "seed \(seed)")
    }

    @Test func `end with the first that fails, since a part of it may have gone`() async throws {
        let taken = Mutex<[Int]>([])
        let writer = writer { piece in
            if piece.count < StreamLink.mostWritten { throw Cut() }
            taken.withLock { $0.append(piece.count) }
        }
        for bytes in [StreamLink.mostWritten + 1, StreamLink.mostWritten] {
            await #expect(throws: LinkError.carrierFailed("Cut()")) {
                try await writer.write([UInt8](repeating: 1, count: bytes), within: patience)
            }
        }
        #expect(taken.withLock { $0 } == [StreamLink.mostWritten])
    }
}
