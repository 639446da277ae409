import StoreFormat

/// What the entries of an index should be, as its table's rows have it: how many they are, and the sum of their hashes,
/// which is the same in any order.
///
/// The hashes are keyed anew in each process, so that nobody can make entries that only seem to agree; what decides is the
/// producer's check of all that it sends, and the digest.
struct ExpectedEntries {
    let shape: IndexShape
    /// Whether each row so far has all values.
    private(set) var isWhole = true
    private(set) var count = 0
    fileprivate var sum: UInt64 = 0
    private var header: [UInt8] = []
    private var entry: [UInt8] = []

    init(_ shape: IndexShape) { self.shape = shape }

    mutating func add(_ row: Span<UInt8>, _ columns: RecordColumns, rowid: Int64, _ integers: IntegerForm) {
        guard isWhole else { return }
        entry.removeAll(keepingCapacity: true)
        guard IndexEntry.append(of: row, columns, rowid: rowid, shape, integers, header: &header, to: &entry) else {
            isWhole = false
            return
        }
        count += 1
        sum &+= entry.keyedHash
    }
}

/// What the entries of an index are.
struct FoundEntries {
    private let order: IndexOrder
    private(set) var count = 0
    private var sum: UInt64 = 0
    private var last: [UInt8] = []

    init(_ shape: IndexShape) { order = IndexOrder(shape) }

    /// Takes the next entry.
    ///
    /// - Returns: Whether it comes after the one before it.
    mutating func add(_ entry: [UInt8]) -> Bool {
        if count > 0 {
            let last = last
            guard order.compare(last.span, entry.span) < 0 else { return false }
        }
        last.removeAll(keepingCapacity: true)
        last += entry
        count += 1
        sum &+= entry.keyedHash
        return true
    }

    func agree(with expected: ExpectedEntries) -> Bool { count == expected.count && sum == expected.sum }
}

extension [UInt8] {
    fileprivate var keyedHash: UInt64 {
        var hasher = Hasher()
        withUnsafeBytes { hasher.combine(bytes: $0) }
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
