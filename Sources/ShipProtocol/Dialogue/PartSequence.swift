/// The one order in which a shipment comes: parts by rising index, each from its first byte to its last; the store in blocks
/// or by its rows, and after rows once more in blocks.
///
/// Source: `Protocol/README.md` sections 3.3 and 3.4. Vectors: `stream_*`, `dialogue_*`.
package struct PartSequence: Hashable, Sendable {
    /// What a block is to the part it belongs to.
    package enum Admission: Hashable, Sendable {
        case next
        /// The store begins again: all that has come of it is void.
        case restart
    }

    /// How far the store's rows are.
    private enum Rows: Hashable, Sendable {
        /// The store has not begun.
        case possible
        /// So many bytes of segments have come.
        case coming(Int64)
        /// The last one has come, and nothing after it.
        case complete
        /// No rows may come, and those that came can be taken back no more.
        case over
    }

    private let sizes: [Int64]
    private let skipped: Set<Int>
    private var part = 0
    private var offset: Int64 = 0
    private var rows: Rows
    /// How the store has come, if it is complete.
    package private(set) var storeForm: StoreForm?

    /// - Parameters:
    ///   - sizes: Of the parts, in bytes.
    ///   - skipped: Indexes of parts that do not come.
    ///   - forms: How the store may come.
    package init(
        sizes: [Int64], skipping skipped: Set<Int>, storeAs forms: Set<StoreForm> = [.plain, .columns]
    ) {
        self.sizes = sizes
        self.skipped = skipped
        rows = forms.contains(.columns) && !skipped.contains(0) ? .possible : .over
        passOverPartsThatDoNotCome()
    }

    /// Whether nothing is missing.
    package var isComplete: Bool { part == sizes.count }

    /// Takes the next block.
    ///
    /// - Throws: `.badBlock` unless it is the next one, or the first one of a store whose rows have come.
    package mutating func admit(_ block: Block) throws(ProtocolError) -> Admission {
        let isRestart = block.part == 0 && block.offset == 0 && areRowsRevocable
        if isRestart { (part, offset, storeForm) = (0, 0, nil) }
        guard part < sizes.count, block.part == UInt32(part) else { throw .badBlock(.part) }
        guard block.offset == offset else { throw .badBlock(.offset) }
        guard Int64(block.decodedSize) <= sizes[part] - offset else { throw .badBlock(.beyondEnd) }
        rows = .over
        offset += Int64(block.decodedSize)
        if offset == sizes[part] {
            if part == 0 { storeForm = .plain }
            goToNextPart()
        }
        return isRestart ? .restart : .next
    }

    /// Takes the next piece of the store's rows.
    ///
    /// - Throws: `.badColumns` where none may come, and where they get longer than the store.
    package mutating func admit(_ columns: Columns) throws(ProtocolError) {
        let before: Int64 =
            switch rows {
            case .possible: 0
            case .coming(let bytes): bytes
            case .complete, .over: throw .badColumns(.place)
            }
        let bytes = before + Int64(columns.segment.count)
        guard bytes - Limits.segmentsOverhead <= sizes.first ?? 0 else { throw .badColumns(.beyondEnd) }
        if columns.isLast {
            rows = .complete
            storeForm = .columns
            goToNextPart()
        } else {
            rows = .coming(bytes)
        }
    }

    private var areRowsRevocable: Bool {
        switch rows {
        case .coming, .complete: true
        case .possible, .over: false
        }
    }

    private mutating func goToNextPart() {
        part += 1
        offset = 0
        passOverPartsThatDoNotCome()
    }

    private mutating func passOverPartsThatDoNotCome() {
        while part < sizes.count, skipped.contains(part) || sizes[part] == 0 { part += 1 }
    }
}
