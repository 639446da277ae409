import ShipCompression
import ShipProtocol
import Synchronization
import Testing

@Suite struct `The encoder` {
    private struct Interruption: Error {}

    /// Counts the blocks that have been read.
    private final class Reads: Sendable {
        let count = Atomic<Int>(0)

        func source(_ part: Int, size: Int64) -> BlockEncoder.Source {
            BlockEncoder.Source(part: part, size: size) { [self] _, count in
                self.count.add(1, ordering: .relaxed)
                return Array(repeating: 7, count: count)
            }
        }
    }

    @Test(arguments: [1, 2, 4])
    func `reads no further than two blocks a core ahead of a delivery that waits`(cores: Int) async throws {
        let reads = Reads()
        var delivered = 0
        try await Encoding(cores: cores).encoder.encode([reads.source(0, size: 40 * 1024 * 1024)]) { _ in
            delivered += 1
            // All that may be under way is let finish before it is counted.
            try await Task.sleep(for: .milliseconds(delivered % 8 == 0 ? 30 : 0))
            let ahead = reads.count.load(ordering: .relaxed) - delivered
            #expect(ahead <= 2 * cores)
        }
        #expect(delivered == 40)
        #expect(reads.count.load(ordering: .relaxed) == 40)
    }

    @Test func `ends with the error of the delivery, and reads no more`() async throws {
        let reads = Reads()
        await #expect(throws: Interruption.self) {
            try await Encoding(cores: 2).encoder.encode([reads.source(0, size: 400 * 1024 * 1024)]) { _ in
                throw Interruption()
            }
        }
        #expect(reads.count.load(ordering: .relaxed) <= 5)
    }

    @Test func `stops when it is cancelled`() async throws {
        let reads = Reads()
        let encoding = try Encoding(cores: 2)
        let (blocks, continuation) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await encoding.encoder.encode([reads.source(0, size: 1_000_000 * 512 * 1024)]) { _ in
                continuation.yield()
            }
        }
        var iterator = blocks.makeAsyncIterator()
        await iterator.next()
        task.cancel()
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
    }

    @Test func `works at the level of the moment, block by block`() async throws {
        let settings = CompressionSettings(.stored)
        let source = Encoding.source(0, Array(repeating: 7, count: 12 * 1_048_576))
        var forms: [Block.Form] = []
        try await BlockEncoder(settings, cores: 1).encode([source]) { placed in
            forms.append(placed.block.form)
            if forms.count == 4 { settings.set(.standard) }
        }
        // One block may be under way at the old level, and one waits to be delivered.
        #expect(forms.prefix(4).allSatisfy { $0 == .stored })
        #expect(forms.dropFirst(6).allSatisfy { $0 == .zlib })
        #expect(forms.count == 12)
    }

    @Test func `says which part has fewer bytes than it should`() async throws {
        let whole = Encoding.source(0, Array(repeating: 1, count: 1000))
        for size in [0, 1, 131_071] {
            let bytes = Array(repeating: UInt8(2), count: size)
            let shrunk = BlockEncoder.Source(part: 1, size: 131_072) {
                Array(bytes[min(bytes.count, Int($0))...].prefix($1))
            }
            await #expect(throws: CompressionError.sourceChanged(part: 1)) {
                try await Encoding(cores: 2).encoder.encode([whole, shrunk]) { _ in }
            }
        }
    }

    @Test func `says what went wrong while it read`() async throws {
        let broken = BlockEncoder.Source(part: 0, size: 1_000_000) { offset, count in
            if offset > 0 { throw Interruption() }
            return Array(repeating: 0, count: count)
        }
        await #expect(throws: Interruption.self) { try await Encoding(cores: 2).encoder.encode([broken]) { _ in } }
    }
}
