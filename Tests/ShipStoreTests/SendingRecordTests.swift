import ShipCompression
import ShipProtocol
import StoreFiles
import Synchronization
import Testing

@testable import ShipStore

/// When a sender enters a shipment into its memory.
@Suite struct SendingRecordTests {
    private let header = PartStream.Header(
        .columns, of: Manifest.Part(size: 4096, sha256: ContentDigest(hashing: [7])))
    private let piece = [UInt8](repeating: 1, count: StreamJournal.least)
    private let note = PieceNote(1, isLast: false)
    private let starts = Starts()

    /// A memory that declines each shipment, and counts them.
    private final class Starts: Sendable {
        private let number = Mutex(0)

        var count: Int { number.withLock { $0 } }

        func record() -> SendingRecord {
            SendingRecord(goingOnWith: { [] }) {
                self.number.withLock { $0 += 1 }
                return nil
            }
        }
    }

    @Test func `it is as new as the shipment, not as the part that is open`() async throws {
        let record = starts.record()
        record.begin(header)
        record.add(Array(piece.dropLast()), note)
        try await Task.sleep(for: .milliseconds(520))
        record.begin(header)
        record.add([1], note)
        #expect(starts.count == 0)
        record.add(piece, note)
        #expect(starts.count == 1)
    }

    @Test func `what the memory has declined is not offered again`() async throws {
        let record = starts.record()
        try await Task.sleep(for: .milliseconds(520))
        for _ in 0..<2 {
            record.begin(header)
            record.add(piece, note)
        }
        record.breakOff()
        #expect(starts.count == 1)
    }

    @Test func `what breaks off early is entered if it is worth that, and what has arrived is not`() {
        for (size, count) in [(piece.count - 1, 0), (piece.count, 1)] {
            let record = starts.record()
            record.begin(header)
            record.add(Array(piece.prefix(size)), note)
            record.breakOff()
            #expect(starts.count == count)
        }
        let record = starts.record()
        record.begin(header)
        record.add(piece, note)
        record.finish()
        record.breakOff()
        #expect(starts.count == 1)
    }
}
