import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Encodings that are broken off: by whoever takes the segments, or because nobody wants them any more.
@Suite struct `An encoding that is broken off` {
    private struct TakesNoMore: Error, Hashable {}
    private struct StillRuns: Error {}

    /// Some 12 MB that do not deflate well, so that segments are as long as they can be.
    private let bytes: [UInt8]
    private let pageSize: Int

    init() throws {
        bytes = try MemoryPages.canonicalForm(
            ofStoreMadeBy: """
                PRAGMA page_size = 4096; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
                INSERT INTO t SELECT i, hex(randomblob(450)) FROM n;
                """)
        pageSize = try MemoryPages(bytes).pageSize
    }

    private func encoder(_ level: CompressionLevel, selfCheck: Bool, cores: Int) -> StoreEncoder {
        let digest = ContentDigest(hashing: bytes)
        let facts = StoreFacts(
            size: Int64(bytes.count), sha256: digest, pageSize: pageSize, pageCount: Int64(bytes.count / pageSize),
            textEncoding: .utf8, applicationID: 0, userVersion: 0, schemaSHA256: digest)
        let store = StoreToEncode(
            path: "/", facts: facts, shapes: [:], settings: CompressionSettings(level), selfCheck: selfCheck,
            cores: cores,
            isAwaited: true)
        return StoreEncoder(
            store, open: { [bytes] in try MemoryPages(bytes) }, makeSpillFile: { MemorySpill() })
    }

    /// How the work ended; what still runs after half a minute is left running, so that the test ends.
    private func end(
        of work: @escaping @Sendable () async throws -> Void, cancelledAfter time: Duration? = nil
    ) async -> (any Error)? {
        let (ends, continuation) = AsyncStream<(any Error)?>.makeStream()
        let task = Task {
            do {
                try await work()
                continuation.yield(nil)
            } catch {
                continuation.yield(error)
            }
        }
        let alarm = Task {
            try await Task.sleep(for: .seconds(30))
            continuation.yield(StillRuns())
        }
        if let time {
            try? await Task.sleep(for: time)
            task.cancel()
        }
        defer { alarm.cancel() }
        for await end in ends { return end }
        return nil
    }

    @Test(arguments: CompressionLevel.range)
    func `ends when its segments are taken no more`(level: Int) async throws {
        let level = try #require(CompressionLevel(level))
        var random = RepeatableRandom(seed: UInt64(level.value))
        for cores in [1, 2, 4] {
            let (most, selfCheck) = (
                Int.random(in: 0...3, using: &random), Bool.random(using: &random)
            )
            let encoder = encoder(level, selfCheck: selfCheck, cores: cores)
            let error = await end(of: {
                var count = 0
                try await encoder.encode { _ in
                    // While it is sent, others are read and encoded, until there may be no more of them.
                    try await Task.sleep(for: .milliseconds(20))
                    guard count < most else { throw TakesNoMore() }
                    count += 1
                }
            })
            #expect(
                error as? TakesNoMore == TakesNoMore(), "\(cores) cores, after \(most): \(String(describing: error))")
        }
    }

    @Test(arguments: CompressionLevel.range)
    func `ends when it is cancelled`(level: Int) async throws {
        let level = try #require(CompressionLevel(level))
        var random = RepeatableRandom(seed: 100 + UInt64(level.value))
        for cores in [1, 2, 4] {
            let encoder = encoder(level, selfCheck: true, cores: cores)
            let time = Duration.milliseconds(Int.random(in: 0...600, using: &random))
            // The link takes nothing.
            let error = await end(
                of: { try await encoder.encode { _ in try await Task.sleep(for: .seconds(3600)) } },
                cancelledAfter: time)
            #expect(error is CancellationError, "\(cores) cores, after \(time): \(String(describing: error))")
        }
    }
}
