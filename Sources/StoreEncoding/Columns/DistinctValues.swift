/// The distinct values of a column. The rows of each one are a class: they have the same kind and the same value.
struct DistinctValues {
    /// The class of each row. Classes are numbered in the order of their first rows.
    private(set) var ids: [Int32] = []
    /// The first row of each class.
    private(set) var firstRows: [Int32] = []

    var count: Int { firstRows.count }

    init(ids: [Int32], firstRows: [Int32]) {
        self.ids = ids
        self.firstRows = firstRows
    }

    private static let most = 1 << 20

    /// - Parameter takesAll: Whether the values may be mostly distinct.
    /// - Returns: `nil` for a column of mostly distinct values: as soon as there are 3 classes for 5 of all rows, or, after 4,096 rows, 3
    ///   classes for 4 of the rows so far; and for more than 1,048,576 classes.
    init?(_ column: ColumnValues, ordinals: [Int32], ofMostlyDistinct takesAll: Bool = false) {
        let limit = min(takesAll ? column.count + 1 : column.count * 3 / 5, Self.most)
        var size = 64
        while size < limit * 2 { size *= 2 }
        var slots = [Int32](repeating: -1, count: size)
        var hashes: [UInt64] = []
        ids.reserveCapacity(column.count)
        for row in 0..<column.count {
            let ordinal = Int(ordinals[row])
            let hash = column.hash(row: row, ordinal: ordinal)
            var slot = Int(truncatingIfNeeded: hash >> 20) & (size - 1)
            while true {
                let id = slots[slot]
                if id < 0 {
                    guard count < limit, takesAll || row < 4096 || count * 4 < row * 3 else { return nil }
                    slots[slot] = Int32(count)
                    ids.append(Int32(count))
                    firstRows.append(Int32(row))
                    hashes.append(hash)
                    break
                }
                if hashes[Int(id)] == hash {
                    let first = Int(firstRows[Int(id)])
                    if column.isEqual(row, ordinal, first, Int(ordinals[first])) {
                        ids.append(id)
                        break
                    }
                }
                slot = (slot + 1) & (size - 1)
            }
        }
    }

    /// Whether rows of one class of `other` are always of one class here.
    func isDetermined(by other: DistinctValues) -> Bool {
        var found = [Int32](repeating: -1, count: other.count)
        for (id, given) in zip(ids, other.ids) {
            if found[Int(given)] < 0 {
                found[Int(given)] = id
            } else if found[Int(given)] != id {
                return false
            }
        }
        return true
    }

    /// For each row 0 if its class is that of the last row with the same class of `other`; otherwise its class, from 1 on.
    func codes(predictedBy other: [Int32], count: Int) -> [Int64] {
        var last = [Int32](repeating: -1, count: count)
        return zip(ids, other).map { id, given in
            defer { last[Int(given)] = id }
            return last[Int(given)] == id ? 0 : Int64(id) + 1
        }
    }
}

extension ColumnValues {
    func hash(row: Int, ordinal: Int) -> UInt64 {
        let multiplier: UInt64 = 0x9e37_79b9_7f4a_7c15
        switch kinds[row] {
        case ColumnValues.nullKind: return 1 &* multiplier
        case ColumnValues.integerKind: return Self.mixed(UInt64(bitPattern: integers[ordinal]) ^ Self.hashKey ^ 2)
        case ColumnValues.realKind: return Self.mixed(reals[ordinal] ^ Self.hashKey ^ 3)
        case ColumnValues.textKind: return texts.hash(ordinal) ^ 4
        default: return blobs.hash(ordinal) ^ 5
        }
    }

    /// The key of all hashes here. It differs from process to process, so that nobody can make values that all want the same slot.
    static let hashKey = UInt64.random(in: 0 ... .max)

    static func mixed(_ value: UInt64) -> UInt64 {
        let product = (value ^ 0x51_7cc1_b727_220a).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
        return product.high ^ product.low
    }

    fileprivate func isEqual(_ row: Int, _ ordinal: Int, _ other: Int, _ otherOrdinal: Int) -> Bool {
        guard kinds[row] == kinds[other] else { return false }
        switch kinds[row] {
        case ColumnValues.nullKind: return true
        case ColumnValues.integerKind: return integers[ordinal] == integers[otherOrdinal]
        case ColumnValues.realKind: return reals[ordinal] == reals[otherOrdinal]
        case ColumnValues.textKind: return texts.isEqual(ordinal, otherOrdinal)
        default: return blobs.isEqual(ordinal, otherOrdinal)
        }
    }
}

extension Strings {
    fileprivate func hash(_ index: Int) -> UInt64 {
        var hash = ColumnValues.hashKey ^ UInt64(UInt32(bitPattern: lengths[index]))
        let start = Int(starts[index])
        let end = start + Int(lengths[index])
        bytes.withUnsafeBytes { bytes in
            var place = start
            while place &+ 8 <= end {
                hash = ColumnValues.mixed(hash ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                place &+= 8
            }
            var last: UInt64 = 0
            while place < end {
                last = last << 8 | UInt64(bytes[place])
                place &+= 1
            }
            hash = ColumnValues.mixed(hash ^ last)
        }
        return hash
    }

    fileprivate func isEqual(_ index: Int, _ other: Int) -> Bool {
        lengths[index] == lengths[other] && commonPrefix(index, other) == Int(lengths[index])
    }
}
