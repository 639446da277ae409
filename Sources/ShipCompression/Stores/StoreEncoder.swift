import Dispatch
import ShipProtocol
package import StoreFormat

/// A canonical copy into segments: read on one thread, encoded on all cores, checked beside that, and delivered in order.
///
/// What a segment is made of follows from the copy and from the capacities of the segments up to it. So an encoder can go on after
/// segments of an earlier session: it walks over what they are made of, and encodes the next. That stays to the end: the link is not
/// tried again, and a small store is not compared with what it would take plainly.
///
/// Memory: `cores + 2` segments under way, or on a slow link two that are twice as large; and what a check needs to sort.
package struct StoreEncoder: ColumnsEncoder {
    /// A store of at most so many bytes is also encoded plainly, and goes by its rows only if that is smaller.
    private static let comparedSize: Int64 = 4 * 1024 * 1024
    /// Segments that may wait for their check.
    private static let mostUnchecked = 4
    /// Segments that are begun while all may be taken back soon: they show the link's pace, and more would be for nothing.
    private static let mostOnTrial = 3
    /// Segments under way where the link is slow at first: one is sent, one is read or encoded.
    private static let mostOnSlowLink = 2

    private let store: StoreToEncode
    private let pages: Pages

    /// How the copy is read.
    package struct Pages: Sendable {
        let open: @Sendable () throws -> any PageSource
        let makeSpillFile: @Sendable () throws -> any SpillFile

        /// - Parameters:
        ///   - open: Opens the copy once more, for a reader of its own.
        ///   - makeSpillFile: See `StoreBuilder.Target`.
        package init(
            open: @escaping @Sendable () throws -> any PageSource,
            makeSpillFile: @escaping @Sendable () throws -> any SpillFile
        ) {
            self.open = open
            self.makeSpillFile = makeSpillFile
        }
    }

    package init(_ store: StoreToEncode, _ pages: Pages) {
        self.store = store
        self.pages = pages
    }

    /// What a task came to.
    private enum Event: Sendable {
        /// `nil` after the last.
        case read(WorkChannel<SegmentContent>.Pending?)
        case encoded(Int, EncodedSegment, EncodedSegment.Position)
        case checked
    }

    package func encode(deliver: (EncodedSegment, EncodedSegment.Position) async throws -> Void) async throws {
        guard store.facts.size <= Self.comparedSize, store.earlier == nil else { return try await encodeAll(deliver) }
        // Beside it, on a core that has little to do: one segment keeps one of them busy.
        let plain = Task { try plainSize() }
        defer { plain.cancel() }
        var segments: [(EncodedSegment, EncodedSegment.Position)] = []
        try await encodeAll { segment, position in
            segments.append((segment, position))
            guard position == .last else { return }
            let size = segments.reduce(0) { $0 + $1.0.bytes.count }
            let plainSize = try await withTaskCancellationHandler {
                try await plain.value
            } onCancel: {
                plain.cancel()
            }
            guard size <= plainSize else { throw ColumnsFailure.unsuitable }
            for (segment, position) in segments { try await deliver(segment, position) }
        }
    }

    private func encodeAll(
        _ deliver: (EncodedSegment, EncodedSegment.Position) async throws -> Void
    ) async throws {
        let recorded = try store.earlier?.capacities ?? []
        let channel = WorkChannel<SegmentContent>(capacity: isLinkSlow ? Self.mostOnSlowLink : store.cores + 2)
        read(into: channel, after: recorded)
        do {
            try await run(channel, deliver)
        } catch {
            await channel.close()
            switch error {
            case is PageComparison.Mismatch: throw ColumnsFailure.selfCheckFailed
            case CompressionError.damaged: throw ColumnsFailure.selfCheckFailed
            case is StoreFlaw: throw ColumnsFailure.unsuitable
            default: throw error
            }
        }
        await channel.close()
    }

    /// The walk blocks: it has a thread of its own, as the work of a serial queue has, and not one of those that tasks share.
    ///
    /// - Parameter recorded: Capacities of the segments that are there already.
    private func read(into channel: WorkChannel<SegmentContent>, after recorded: [Int]) {
        DispatchQueue(label: "ship-store walk").async { [self] in
            channel.end(
                Result {
                    let pages = PagesUntilClosed(try pages.open()) { channel.isClosed }
                    let segments = StoreWalk.Segments.full(after: recorded) { capacities }
                    var earlier = (store.earlier?.notes ?? [])[...]
                    var skipped: Int64 = 0
                    try StoreWalk.run(over: pages, shapes: store.shapes, segments: segments) { content in
                        if let note = earlier.popFirst() {
                            guard note.isLast == content.isLast else { throw EarlierPieces.Mismatch() }
                            skipped += content.storeBytes
                            return
                        }
                        var content = content
                        content.storeBytes += skipped
                        skipped = 0
                        try channel.put(content)
                    }
                    guard earlier.isEmpty else { throw EarlierPieces.Mismatch() }
                })
        }
    }

    private var capacities: SegmentContent.Capacities {
        // A small one is compared as a whole before anything is sent.
        guard store.isAwaited, store.facts.size > Self.comparedSize else { return .usual }
        return isLinkSlow ? .onSlowLink : .onTrial
    }

    /// Whether the link has something to do with a segment for longer than one core takes for the next.
    private var isLinkSlow: Bool {
        store.isAwaited && store.dial.level.value > CompressionLevel.standard.value
    }

    private var prospect: EffortDial.Prospect { store.earlier == nil ? store.dial.prospect : .lasting }

    private func encode(_ pending: WorkChannel<SegmentContent>.Pending, _ index: Int) throws -> Event {
        guard let content = pending.take() else { throw CancellationError() }
        let effort = content.effort(store.dial.level, prospect)
        let capacity = UInt64(content.capacity)
        let (storeBytes, position) = (content.storeBytes, content.isLast ? EncodedSegment.Position.last : .more)
        let bytes = try content.encoded(effort)
        return .encoded(index, EncodedSegment(bytes: bytes, storeBytes: storeBytes, setting: capacity), position)
    }

    private func run(
        _ channel: WorkChannel<SegmentContent>,
        _ deliver: (EncodedSegment, EncodedSegment.Position) async throws -> Void
    ) async throws {
        let check = store.selfCheck == .on ? try StoreComparison(store.facts, pages) : nil
        try await withThrowingTaskGroup(of: Event.self) { group in
            var (begun, done, delivered) = (0, 0, 0)
            var encoded: [Int: (EncodedSegment, EncodedSegment.Position)] = [:]
            var unchecked: [[UInt8]] = []
            var (isReading, isChecking, isAtEnd) = (false, false, false)
            /// What is to be begun next.
            var pending: WorkChannel<SegmentContent>.Pending?

            // They are decoded beside all else, one after the other, and before any that follows.
            if let check, let earlier = store.earlier, earlier.count > 0 {
                isChecking = true
                group.addTask {
                    for index in 0..<earlier.count {
                        try Task.checkCancellation()
                        try check.append(try earlier.read(index))
                    }
                    return .checked
                }
            }

            func goOn() {
                // On a slow link one after the other, each while the one before is sent: what is under way takes memory.
                if let next = pending, begun == done || !isLinkSlow {
                    pending = nil
                    let index = begun
                    begun += 1
                    group.addTask { try encode(next, index) }
                }
                let isEnoughForTrial =
                    prospect == .onTrial && begun >= Self.mostOnTrial && delivered < begun
                let isWanted = !isEnoughForTrial && unchecked.count < Self.mostUnchecked
                if isWanted, pending == nil, !isReading, !isAtEnd {
                    isReading = true
                    group.addTask { .read(try await channel.next()) }
                }
                let canCheckWait =
                    prospect == .onTrial && unchecked.count < Self.mostUnchecked && !isAtEnd
                if let check, !isChecking, !unchecked.isEmpty, !canCheckWait {
                    isChecking = true
                    let segment = unchecked.removeFirst()
                    group.addTask {
                        try check.append(segment)
                        return .checked
                    }
                }
            }

            goOn()
            while let event = try await group.next() {
                switch event {
                case .read(let next): (isReading, pending, isAtEnd) = (false, next, next == nil)
                case .encoded(let index, let segment, let position):
                    done += 1
                    encoded[index] = (segment, position)
                    while let (segment, position) = encoded.removeValue(forKey: delivered) {
                        delivered += 1
                        if check != nil { unchecked.append(segment.bytes) }
                        // Goes on meanwhile.
                        goOn()
                        try await deliver(segment, position)
                        channel.finishOne()
                    }
                case .checked: isChecking = false
                }
                goOn()
            }
        }
        try check?.finish()
    }

    /// Bytes of all blocks that the store would be otherwise, and what their frames have beyond those of segments.
    private func plainSize() throws -> Int {
        let source = try pages.open()
        var size = 0
        var block: [UInt8] = []
        var page = [UInt8](repeating: 0, count: store.facts.pageSize)
        for number in 1...max(1, source.pageCount) {
            try Task.checkCancellation()
            try source.read(number, into: &page)
            block += page
            guard block.count >= 1 << 20 || number == source.pageCount else { continue }
            size += try EncodedSize.of(block, level: store.dial.level)
            block.removeAll(keepingCapacity: true)
        }
        return size
    }
}

/// What was encoded, decoded and compared with the store that it was encoded from.
///
/// It is used by one task at a time.
private final class StoreComparison: @unchecked Sendable {
    private let builder: StoreBuilder

    init(_ facts: StoreFacts, _ pages: StoreEncoder.Pages) throws {
        let original = try pages.open()
        builder = StoreBuilder(pageSize: facts.pageSize, pageCount: original.pageCount) { settings in
            PageComparison(with: original, pageSize: settings.pageSize, makeSpillFile: pages.makeSpillFile)
        }
    }

    func append(_ segment: [UInt8]) throws { try builder.append(segment) }

    func finish() throws {
        guard builder.isComplete else { throw CompressionError.damaged(.rows) }
    }
}
