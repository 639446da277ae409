import ShipCompression
import StoreFormat

/// Records from columns, in canonical encoding.
///
/// It measures each column as it comes, and writes nothing before the size of all is known to be within the limit.
struct RecordBuilder {
    private let form: IntegerForm
    private let limit: Int
    private let counts: [Int64]
    /// Columns that each row has, and that any row has.
    let least: Int
    let most: Int
    /// The rows that have the current column.
    private var rows: [Int32]
    private var typeSizes: [Int32]
    private var bodySizes: [Int32]
    private var total: Int

    init(columnCounts counts: [Int64], form: IntegerForm, limit: Int) throws(CompressionError) {
        self.counts = counts
        self.form = form
        self.limit = limit
        total = counts.count
        var (least, most) = (Int64.max, Int64(0))
        for count in counts {
            guard count >= 0, count <= Int64(SegmentLimits.columns) else { throw .damaged(.segmentLimit) }
            // Each value takes a byte of the header at least.
            total += Int(count)
            guard total <= limit else { throw .damaged(.segmentLimit) }
            least = min(least, count)
            most = max(most, count)
        }
        total = counts.count
        (self.least, self.most) = (Int(least), Int(most))
        rows = Array(0..<Int32(counts.count))
        typeSizes = [Int32](repeating: 0, count: counts.count)
        bodySizes = typeSizes
    }

    /// Callers ask for each column in order.
    ///
    /// - Returns: How many rows have the column.
    mutating func rows(withColumn column: Int) -> Int {
        rows = rows(after: rows, column)
        return rows.count
    }

    private func rows(after rows: [Int32], _ column: Int) -> [Int32] {
        column < least ? rows : rows.filter { counts[Int($0)] > Int64(column) }
    }

    /// Adds what the values of the current column take.
    mutating func measure(_ column: ColumnValues) throws(CompressionError) {
        var (integer, text, blob) = (0, 0, 0)
        for (index, row) in rows.enumerated() {
            var (type, body) = (1, 0)
            switch column.kinds[index] {
            case ColumnValues.nullKind: break
            case ColumnValues.integerKind:
                body = SerialType.numberLength(form.serialType(of: column.integers[integer]))
                integer += 1
            case ColumnValues.realKind: body = 8
            case ColumnValues.textKind:
                body = Int(column.texts.lengths[text])
                type = Varint.length(of: SerialType.text(length: body))
                text += 1
            default:
                body = Int(column.blobs.lengths[blob])
                type = Varint.length(of: SerialType.blob(length: body))
                blob += 1
            }
            total += type + body
            guard total <= limit else { throw .damaged(.segmentLimit) }
            typeSizes[Int(row)] += Int32(type)
            bodySizes[Int(row)] += Int32(body)
        }
    }

    /// - Parameter columns: Those that were measured.
    consuming func build(_ columns: [ColumnValues]) -> (records: [UInt8], ends: [Int]) {
        var ends: [Int] = []
        ends.reserveCapacity(counts.count)
        var typePlaces = typeSizes
        var bodyPlaces = bodySizes
        var end = 0
        for row in 0..<counts.count {
            let types = Int(typeSizes[row])
            let header = CanonicalRecord.headerSizeWithItself(types)
            typePlaces[row] = Int32(end + header - types)
            bodyPlaces[row] = Int32(end + header)
            end += header + Int(bodySizes[row])
            ends.append(end)
        }
        let records = [UInt8](unsafeUninitializedCapacity: end) { bytes, count in
            var start = 0
            for row in 0..<counts.count {
                let size = CanonicalRecord.headerSizeWithItself(Int(typeSizes[row]))
                Self.put(UInt64(size), at: start, in: bytes)
                start = ends[row]
            }
            var rows = Array(0..<Int32(counts.count))
            for (index, column) in columns.enumerated() {
                rows = self.rows(after: rows, index)
                put(column, rows, &typePlaces, &bodyPlaces, in: bytes)
            }
            count = end
        }
        return (records, ends)
    }

    private func put(
        _ column: ColumnValues, _ rows: [Int32], _ typePlaces: inout [Int32], _ bodyPlaces: inout [Int32],
        in bytes: UnsafeMutableBufferPointer<UInt8>
    ) {
        var (integer, real, text, blob) = (0, 0, 0, 0)
        for (index, row) in rows.enumerated() {
            let row = Int(row)
            let place = Int(typePlaces[row])
            let body = Int(bodyPlaces[row])
            switch column.kinds[index] {
            case ColumnValues.nullKind:
                bytes[place] = 0
                typePlaces[row] += 1
            case ColumnValues.integerKind:
                let value = column.integers[integer]
                integer += 1
                let type = form.serialType(of: value)
                bytes[place] = UInt8(truncatingIfNeeded: type)
                typePlaces[row] += 1
                let size = SerialType.numberLength(type)
                Self.put(UInt64(bitPattern: value), size: size, at: body, in: bytes)
                bodyPlaces[row] += Int32(size)
            case ColumnValues.realKind:
                bytes[place] = 7
                typePlaces[row] += 1
                Self.put(column.reals[real], size: 8, at: body, in: bytes)
                real += 1
                bodyPlaces[row] += 8
            case ColumnValues.textKind:
                let size = put(column.texts, text, isText: true, at: place, body, in: bytes)
                text += 1
                typePlaces[row] += Int32(size)
                bodyPlaces[row] += column.texts.lengths[text - 1]
            default:
                let size = put(column.blobs, blob, isText: false, at: place, body, in: bytes)
                blob += 1
                typePlaces[row] += Int32(size)
                bodyPlaces[row] += column.blobs.lengths[blob - 1]
            }
        }
    }

    /// - Returns: Bytes of the serial type.
    private func put(
        _ strings: Strings, _ index: Int, isText: Bool, at place: Int, _ body: Int,
        in bytes: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        let length = Int(strings.lengths[index])
        let start = Int(strings.starts[index])
        strings.bytes.withUnsafeBufferPointer { source in
            guard length > 0, let from = source.baseAddress, let to = bytes.baseAddress else { return }
            (to + body).update(from: from + start, count: length)
        }
        let type = isText ? SerialType.text(length: length) : SerialType.blob(length: length)
        return Self.put(type, at: place, in: bytes)
    }

    @inline(__always)
    private static func put(_ value: UInt64, size: Int, at place: Int, in bytes: UnsafeMutableBufferPointer<UInt8>) {
        var rest = value
        var index = place &+ size
        while index > place {
            index &-= 1
            bytes[index] = UInt8(truncatingIfNeeded: rest)
            rest >>= 8
        }
    }

    /// A varint of SQLite's: the highest bits first.
    @discardableResult
    private static func put(_ value: UInt64, at place: Int, in bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let size = Varint.length(of: value)
        var rest = value
        for index in stride(from: size - 1, through: 0, by: -1) {
            bytes[place + index] = UInt8(truncatingIfNeeded: rest) & 0x7f | (index == size - 1 ? 0 : 0x80)
            rest >>= 7
        }
        return size
    }
}
