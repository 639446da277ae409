import ShipCompression
import ShipProtocol
package import StoreFormat

/// Encodes a canonical copy as segments. One thread reads the copy, all cores encode, a task checks the segments, and the caller gets
/// them in order.
///
/// The content of a segment follows from the copy and from the capacities of the segments up to it. So an encoder can continue after
/// the segments of an earlier session: it walks over their content, and encodes the next. It then neither tries the pace of the link
/// again, nor compares a small store with the size of its blocks.
///
/// Memory: `cores + 2` segments, of up to twice the size where bytes count for more than time, or on a slow link two of these; all of a
/// small store; and the entries that the check sorts.
package struct StoreEncoder: Sendable {
    /// Largest small store, in bytes.
    private static let smallSize: Int64 = 4 * 1024 * 1024
    /// Segments in memory where the link is slow at first: one is sent, another is read or encoded.
    private static let mostOnSlowLink = 2

    private let store: StoreToEncode
    private let open: @Sendable () throws -> any PageSource
    private let makeSpillFile: @Sendable () throws -> any SpillFile

    /// - Parameters:
    ///   - open: Opens the copy for one more reader. Reading its pages throws `CancellationError` when the task is cancelled.
    ///   - makeSpillFile: See `StoreBuilder.Target`.
    package init(
        _ store: StoreToEncode, open: @escaping @Sendable () throws -> any PageSource,
        makeSpillFile: @escaping @Sendable () throws -> any SpillFile
    ) {
        self.store = store
        self.open = open
        self.makeSpillFile = makeSpillFile
    }

    /// The result of a child task.
    private enum Event: Sendable {
        /// The walk has put all segments, or the error that ended it, into the channel.
        case walked
        /// `nil` after the last.
        case read(WorkChannel<SegmentContent>.Pending?)
        case encoded(Int, EncodedSegment)
        case checked
    }

    /// See `StoreCodec`.
    package func encode(deliver: (EncodedSegment) async throws -> Void) async throws {
        guard store.facts.size <= comparedSize, store.earlier == nil else { return try await encodeAll(deliver) }
        // In parallel: the one segment of a small store keeps only one core busy.
        let plain = Task { try plainSize() }
        defer { plain.cancel() }
        var segments: [EncodedSegment] = []
        try await encodeAll { segment in
            segments.append(segment)
            guard segment.isLast else { return }
            let size = segments.reduce(0) { $0 + $1.bytes.count }
            let plainSize = try await withTaskCancellationHandler {
                try await plain.value
            } onCancel: {
                plain.cancel()
            }
            guard size <= plainSize else { throw EncodingFailure.unsuitable }
            for segment in segments { try await deliver(segment) }
        }
    }

    private func encodeAll(_ deliver: (EncodedSegment) async throws -> Void) async throws {
        let recorded = try store.earlier?.capacities ?? []
        do {
            try await run(after: recorded, deliver)
        } catch {
            switch error {
            // A receiver would refuse it.
            case CompressionError.damaged(.work): throw EncodingFailure.unsuitable
            case CompressionError.damaged: throw EncodingFailure.selfCheckFailed
            case is StoreFlaw: throw EncodingFailure.unsuitable
            default: throw error
            }
        }
    }

    /// Reads the store, and puts the content of its segments, of the capacities of an earlier session. It blocks.
    private func walk(after recorded: [Int], put: @escaping (SegmentContent) throws -> Void) throws {
        var earlier = (store.earlier?.notes ?? [])[...]
        var skipped: Int64 = 0
        try StoreWalk.run(over: try open(), shapes: store.shapes ?? [:], after: recorded) {
            capacities
        } refers: {
            store.settings.level.value >= CompressionLevel.standard.value
        } makeSpillFile: {
            try makeSpillFile()
        } deliver: { content in
            if let note = earlier.popFirst() {
                guard note.isLast == content.isLast else { throw EarlierPieces.Mismatch() }
                skipped += content.storeBytes
                return
            }
            var content = content
            content.storeBytes += skipped
            skipped = 0
            try put(content)
        }
        guard earlier.isEmpty else { throw EarlierPieces.Mismatch() }
    }

    private var capacities: (first: Int, largest: Int) {
        let isSmall = store.facts.size <= Self.smallSize
        if store.isAwaited, !isSmall {
            return isLinkSlow ? SegmentContent.capacitiesOnSlowLink : SegmentContent.capacitiesOnTrial
        }
        // Otherwise a small store is sent after all of it is encoded.
        if isInHurry { return SegmentContent.capacitiesInHurry }
        if isSmall { return SegmentContent.capacitiesOfSmallStore }
        return store.settings.level.value > CompressionLevel.standard.value
            ? SegmentContent.capacitiesForFewestBytes : SegmentContent.capacitiesForFewBytes
    }

    /// Up to this size in bytes, a store is also encoded as blocks, and is sent by its rows only if that is smaller. Where time counts, a
    /// store of several segments is not: they keep all cores busy.
    private var comparedSize: Int64 { isInHurry ? Int64(SegmentContent.capacitiesInHurry.first) : Self.smallSize }

    /// Whether time counts for more than bytes: a consumer waits, and the link is fast or the user wants little effort.
    private var isInHurry: Bool { store.isAwaited && store.settings.level.value < CompressionLevel.standard.value }

    /// Whether sending a segment takes longer than one core needs to encode the next.
    private var isLinkSlow: Bool {
        store.isAwaited && store.settings.level.value > CompressionLevel.standard.value
    }

    private var isOnTrial: Bool { store.earlier == nil && store.settings.isOnTrial }

    private func encode(_ pending: WorkChannel<SegmentContent>.Pending, _ index: Int) throws -> Event {
        guard let content = pending.take() else { throw CancellationError() }
        let effort = content.effort(store.settings.level, isOnTrial: isOnTrial)
        let capacity = UInt64(content.capacity)
        let (storeBytes, isLast) = (content.storeBytes, content.isLast)
        let bytes = try content.encoded(effort, after: content.earlier == nil ? nil : open())
        return .encoded(index, EncodedSegment(bytes: bytes, storeBytes: storeBytes, setting: capacity, isLast: isLast))
    }

    /// Runs the actions of the schedule as child tasks. If one of them fails, `deliver` throws, or the task is cancelled, all of them
    /// are cancelled and awaited.
    private func run(after recorded: [Int], _ deliver: (EncodedSegment) async throws -> Void) async throws {
        let channel = WorkChannel<SegmentContent>(capacity: isLinkSlow ? Self.mostOnSlowLink : store.cores + 2)
        let check =
            store.selfCheck
            ? try StoreComparison(with: open(), pageSize: store.facts.pageSize, makeSpillFile: makeSpillFile) : nil
        try await withThrowingTaskGroup(of: Event.self) { group in
            group.addTask(executorPreference: channel.thread) {
                await channel.run { try walk(after: recorded, put: $0) }
                return .walked
            }
            let earlier = store.earlier.flatMap { $0.count > 0 ? $0 : nil }
            if let check, let earlier {
                // The earlier segments are checked in parallel with all else, before the new ones.
                group.addTask {
                    for index in 0..<earlier.count {
                        try Task.checkCancellation()
                        try await check.append(try earlier.read(index))
                    }
                    return .checked
                }
            }
            var schedule = EncodingSchedule(checks: check != nil, isChecking: check != nil && earlier != nil)
            /// The content that is encoded next.
            var pending: WorkChannel<SegmentContent>.Pending?
            var undelivered: [Int: EncodedSegment] = [:]
            var unchecked: [Int: [UInt8]] = [:]
            var event: Event?
            repeat {
                switch event {
                case nil, .walked: break
                case .read(let next):
                    pending = next
                    schedule.didRead(isAtEnd: next == nil)
                case .encoded(let index, let segment):
                    undelivered[index] = segment
                    if check != nil { unchecked[index] = segment.bytes }
                    schedule.didEncode(index)
                case .checked: schedule.didCheck()
                }
                while let action = schedule.next(isLinkSlow: isLinkSlow, isOnTrial: isOnTrial) {
                    switch action {
                    case .read: group.addTask { .read(try await channel.next()) }
                    case .encode(let index):
                        guard let next = pending.take() else { break }
                        group.addTask { try encode(next, index) }
                    case .check(let index):
                        guard let check, let segment = unchecked.removeValue(forKey: index) else { break }
                        group.addTask {
                            try await check.append(segment)
                            return .checked
                        }
                    case .deliver(let index):
                        guard let segment = undelivered.removeValue(forKey: index) else { break }
                        try await deliver(segment)
                        channel.finishOne()
                    }
                }
                event = try await group.next()
            } while event != nil
        }
        try await check?.finish()
    }

    /// The encoded size of the store as blocks, in bytes.
    private func plainSize() throws -> Int {
        let source = try open()
        var size = 0
        var block: [UInt8] = []
        var page = [UInt8](repeating: 0, count: store.facts.pageSize)
        for number in 1...max(1, source.pageCount) {
            try Task.checkCancellation()
            try source.read(number, into: &page)
            block += page
            guard block.count >= 1 << 20 || number == source.pageCount else { continue }
            size += try Deflate.encodedSize(of: block, level: store.settings.level)
            block.removeAll(keepingCapacity: true)
        }
        return size
    }
}

/// Decodes the segments, and compares the result with the store that they were encoded from.
private actor StoreComparison {
    private let builder: StoreBuilder

    init(
        with original: sending any PageSource, pageSize: Int,
        makeSpillFile: @escaping @Sendable () throws -> any SpillFile
    ) {
        builder = StoreBuilder(pageSize: pageSize, pageCount: original.pageCount) { settings in
            PageComparison(with: original, pageSize: settings.pageSize, makeSpillFile: makeSpillFile)
        }
    }

    func append(_ segment: [UInt8]) throws { try builder.append(segment) }

    func finish() throws {
        guard builder.isComplete else { throw CompressionError.damaged(.rows) }
    }
}
