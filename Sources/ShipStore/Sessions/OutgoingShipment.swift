import ShipCompression
import ShipProtocol
import StoreFiles
import SystemPackage

/// A compact copy and its external files on their way out. When it is dropped, the copy goes.
final class OutgoingShipment: Sendable {
    private let copy: PreparedCopy
    private let encoder: BlockEncoder

    init(_ copy: consuming PreparedCopy, _ encoder: BlockEncoder) {
        self.copy = copy
        self.encoder = encoder
    }

    var manifest: Manifest { copy.manifest }

    /// Sends all blocks in order, then END.
    ///
    /// - Parameters:
    ///   - skipped: Indexes of parts of which no blocks are sent.
    ///   - beforeEnd: Called when all but END has been sent.
    func send(
        skipping skipped: Set<Int>, over writer: FrameWriter, report: (SendEvent) -> Void, beforeEnd: () -> Void = {}
    ) async throws {
        let parts = manifest.parts
        let chosen = parts.indices.filter { !skipped.contains($0) }
        let total = chosen.reduce(0) { $0 + parts[$1].size }
        var done: Int64 = 0
        report(.progress(done: 0, total: total, wire: writer.bytesSent))
        let sources = chosen.map { index in
            // Opened for each read: there may be thousands of parts, and a read takes a whole block.
            BlockEncoder.Source(part: UInt32(index), size: parts[index].size) { [path = copy.path(ofPart: index)] in
                try OpenFile.readingWithoutFollowing(path).read($1, at: $0)
            }
        }
        try await encoder.encode(sources) { block in
            try await writer.send(.block(block))
            done += Int64(block.decodedSize)
            report(.progress(done: done, total: total, wire: writer.bytesSent))
        }
        beforeEnd()
        try await writer.send(.end)
    }
}
