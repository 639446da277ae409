package import StoreFormat

/// The segments of a delta, and the base that it was made against, into a file. It reads what nobody vouches for.
///
/// Source: `Protocol/DELTA.md`. Memory: one segment as decoded, two pages a level of the trees that are read and written, what
/// merges and sorts entries, and some bytes for each leaf of a tree whose rows moved.
package final class DeltaBuilder {
    private let base: any PageSource
    private let pageSize: Int
    private let mostPages: UInt32
    private let makeTarget: (_ pageSize: Int) throws -> any StoreBuilder.Target
    private var state = State.awaitingHead
    private var store: DeltaStore?
    private var trees: TreeMaker?
    private var file: (bytes: FileMaker, pages: PageWriter)?

    private enum State: Hashable {
        case awaitingHead
        case inTrees
        case inFile
        case ended
    }

    /// - Parameters:
    ///   - base: The file that the delta was made against.
    ///   - pageSize: Of the result, in bytes: what the manifest says.
    ///   - pageCount: Most pages to write: what the manifest says.
    ///   - makeTarget: Makes the file.
    package init(
        base: any PageSource, pageSize: Int, pageCount: UInt32,
        makeTarget: @escaping (_ pageSize: Int) throws -> any StoreBuilder.Target
    ) {
        self.base = base
        self.pageSize = pageSize
        mostPages = pageCount
        self.makeTarget = makeTarget
    }

    /// Takes the next segment.
    ///
    /// - Throws: `CompressionError.damaged`, and what base and target throw.
    package func append(_ segment: [UInt8]) throws {
        guard state != .ended else { throw CompressionError.damaged(.rows) }
        do {
            var source = try SegmentSource(ofDelta: segment) { runs in
                try DeltaDictionary.bytes(runs, of: try baseStore())
            }
            if state == .awaitingHead { try begin(&source) }
            var room = SegmentRoom()
            while !source.isAtEnd {
                if state == .inTrees {
                    try trees?.takeItem(&source, &room)
                } else {
                    try takePiece(&source, &room)
                }
            }
        } catch is StoreFlaw {
            throw CompressionError.damaged(.rows)
        }
    }

    /// No more comes: makes what is left of the file.
    ///
    /// - Throws: As `append`.
    package func finish() throws {
        do {
            switch state {
            case .inTrees: try trees?.finish()
            case .inFile: try file?.bytes.finish()
            case .awaitingHead, .ended: throw CompressionError.damaged(.rows)
            }
        } catch is StoreFlaw {
            throw CompressionError.damaged(.rows)
        }
        state = .ended
    }

    private func baseStore() throws -> DeltaStore {
        if let store { return store }
        do {
            let store = try DeltaStore(base)
            self.store = store
            return store
        } catch is StoreFlaw {
            throw CompressionError.damaged(.base)
        }
    }

    private func takePiece(_ source: inout SegmentSource, _ room: inout SegmentRoom) throws {
        guard var (bytes, pages) = file else { return }
        file = nil
        try bytes.takePiece(&source, &room) { try pages.write($0) }
        file = (bytes, pages)
    }

    private func begin(_ source: inout SegmentSource) throws {
        let flags = try source.control.varint()
        guard flags <= DeltaHead.all else { throw CompressionError.damaged(.segment) }
        if flags == DeltaHead.isFile {
            let baseSize: Int
            do {
                var header = [UInt8](repeating: 0, count: DatabaseHeader.size)
                try base.read(1, into: &header)
                baseSize = try DatabaseHeader(decoding: header).pageSize
            } catch is DatabaseHeader.Flaw {
                throw CompressionError.damaged(.base)
            }
            file = (
                FileMaker(FileBytes(base, pageSize: baseSize), size: Int64(pageSize) * Int64(mostPages)),
                PageWriter(try makeTarget(pageSize), pageSize: pageSize)
            )
            state = .inFile
            return
        }
        guard flags & DeltaHead.isFile == 0 else { throw CompressionError.damaged(.segment) }
        let store = try baseStore()
        let settings = try DeltaHead.settings(flags, of: store.settings, from: &source)
        guard settings.pageSize == pageSize else { throw CompressionError.damaged(.rows) }
        let change = flags & DeltaHead.changesTrees == 0 ? 0 : try source.control.signed()
        let count = Int64(store.trees.count - 1) &+ change
        guard (0...Int64(SchemaTrees.most)).contains(count) else { throw CompressionError.damaged(.rows) }
        trees = try TreeMaker(
            store, settings, treeCount: Int(count), mostPages: mostPages, to: try makeTarget(pageSize))
        state = .inTrees
    }
}

/// What the items of one segment may come to yet, in all.
struct SegmentRoom {
    var rows = SegmentLimits.rows
    var content = SegmentLimits.contentSize
}

/// How a delta begins.
///
/// Source: `Protocol/DELTA.md` section 2.
enum DeltaHead {
    /// The result is a file of bytes.
    static let isFile: UInt64 = 1
    static let changesTrees: UInt64 = 2
    static let changesSettings: UInt64 = 4
    static let all: UInt64 = 7

    /// Nine numbers, in the order of `Protocol/COLUMNS.md` section 1.1.
    static func numbers(_ settings: StoreSettings) -> [UInt32] {
        [
            UInt32(settings.pageSize), UInt32(settings.reservedBytes), settings.schemaFormat, settings.cacheSize,
            settings.hasAutoVacuum ? 1 : 0, settings.textEncoding, settings.userVersion, settings.incrementalVacuum,
            settings.applicationID,
        ]
    }

    /// Writes which numbers differ, as bits, and these.
    static func write(_ new: StoreSettings, after base: StoreSettings, into areas: inout SegmentAreas) {
        let (old, new) = (numbers(base), numbers(new))
        let changed = new.indices.filter { new[$0] != old[$0] }
        areas.unsigned(changed.reduce(0) { $0 | 1 << UInt64($1) })
        for index in changed { areas.unsigned(UInt64(new[index])) }
    }

    static func settings(
        _ flags: UInt64, of base: StoreSettings, from source: inout SegmentSource
    ) throws -> StoreSettings {
        guard flags & changesSettings != 0 else { return base }
        var numbers = numbers(base)
        let changed = try source.control.varint()
        guard changed < 1 << UInt64(numbers.count) else { throw CompressionError.damaged(.segment) }
        for index in numbers.indices where changed & 1 << UInt64(index) != 0 {
            guard let number = UInt32(exactly: try source.control.varint()) else {
                throw CompressionError.damaged(.rows)
            }
            numbers[index] = number
        }
        guard numbers[4] <= 1 else { throw CompressionError.damaged(.rows) }
        return try StoreSettings(
            pageSize: Int(numbers[0]), reservedBytes: Int(numbers[1]), schemaFormat: numbers[2], cacheSize: numbers[3],
            hasAutoVacuum: numbers[4] == 1, textEncoding: numbers[5], userVersion: numbers[6],
            incrementalVacuum: numbers[7], applicationID: numbers[8])
    }
}

/// Bytes into a file of pages.
private struct PageWriter {
    private let target: any StoreBuilder.Target
    private let pageSize: Int
    private var page: [UInt8] = []
    private var number: UInt32 = 1

    init(_ target: any StoreBuilder.Target, pageSize: Int) {
        self.target = target
        self.pageSize = pageSize
    }

    mutating func write(_ bytes: Span<UInt8>) throws {
        var place = 0
        while place < bytes.count {
            let count = min(bytes.count - place, pageSize - page.count)
            bytes.extracting(place..<(place + count)).withUnsafeBufferPointer { page.append(contentsOf: $0) }
            place += count
            guard page.count == pageSize else { continue }
            try target.write(page, number: number)
            number += 1
            page.removeAll(keepingCapacity: true)
        }
    }
}
