import ShipCompression
import StoreFormat

/// The columns of the records of a group, one after the other.
///
/// It keeps a place in the header and one in the body of each row, and the values of one column at a time.
struct RecordParser {
    private let records: [UInt8]
    private let form: IntegerForm
    private var headerPlaces: [Int32] = []
    private var headerEnds: [Int32] = []
    private var bodyPlaces: [Int32] = []
    private let ends: [Int]
    /// The rows that have a next column.
    private var rows: [Int32] = []

    /// - Throws: `.notCanonical`, also for `ends` that do not fit the records.
    init(_ group: RowGroup, form: IntegerForm) throws(CompressionError) {
        records = group.records
        ends = group.ends
        self.form = form
        guard ends.last ?? 0 == records.count, records.count <= SegmentLimits.groupSize else { throw .notCanonical }
        headerPlaces.reserveCapacity(ends.count)
        headerEnds.reserveCapacity(ends.count)
        bodyPlaces.reserveCapacity(ends.count)
        var start = 0
        for end in ends {
            guard end > start, end <= records.count else { throw .notCanonical }
            let (size, place) = try Self.varint(records, at: start, end: end)
            guard size <= end - start, size >= place - start,
                CanonicalRecord.headerSizeWithItself(size - (place - start)) == size
            else { throw .notCanonical }
            headerPlaces.append(Int32(place))
            headerEnds.append(Int32(start + size))
            bodyPlaces.append(Int32(start + size))
            start = end
        }
        rows = (0..<Int32(ends.count)).filter { headerPlaces[Int($0)] < headerEnds[Int($0)] }
    }

    /// How many columns each row has.
    func columnCounts() throws(CompressionError) -> [Int64] {
        var counts: [Int64] = []
        counts.reserveCapacity(ends.count)
        records.withUnsafeBufferPointer { records in
            for row in 0..<ends.count {
                var count: Int64 = 0
                for place in Int(headerPlaces[row])..<Int(headerEnds[row]) where records[place] < 0x80 { count &+= 1 }
                counts.append(count)
            }
        }
        guard (counts.max() ?? 0) <= Int64(SegmentLimits.columns) else { throw .notCanonical }
        return counts
    }

    /// - Returns: The next value of each row that has one.
    mutating func nextColumn() throws(CompressionError) -> ColumnValues {
        var column = ColumnValues(in: records)
        column.kinds.reserveCapacity(rows.count)
        var isCanonical = true
        var hasLast = false
        let (records, form, ends, rows) = (records, form, ends, rows)
        records.withUnsafeBufferPointer { bytes in
            for row in rows {
                let row = Int(row)
                var place = Int(headerPlaces[row])
                let headerEnd = Int(headerEnds[row])
                let body = Int(bodyPlaces[row])
                var type = Int(bytes[place])
                place += 1
                if type >= 0x80 {
                    guard let (value, next) = Self.longVarint(bytes, at: place - 1, end: headerEnd) else {
                        isCanonical = false
                        return
                    }
                    (type, place) = (value, next)
                }
                let size = type < 12 ? SerialType.numberLength(UInt64(min(type, 9))) : (type - 12) / 2
                guard size <= ends[row] - body, type < 10 || type > 11 else {
                    isCanonical = false
                    return
                }
                headerPlaces[row] = Int32(place)
                bodyPlaces[row] = Int32(body + size)
                if place == headerEnd { hasLast = true }
                switch type {
                case 0: column.kinds.append(ColumnValues.nullKind)
                case 7:
                    var bits: UInt64 = 0
                    for index in body..<body + 8 { bits = bits << 8 | UInt64(bytes[index]) }
                    column.kinds.append(ColumnValues.realKind)
                    column.reals.append(bits)
                case 1...9:
                    var value = size > 0 ? Int64(Int8(bitPattern: bytes[body])) : Int64(type - 8)
                    for index in body..<body + size where index > body { value = value << 8 | Int64(bytes[index]) }
                    isCanonical = isCanonical && Int(form.serialType(of: value)) == type
                    column.kinds.append(ColumnValues.integerKind)
                    column.integers.append(value)
                default:
                    if type & 1 == 1 {
                        column.kinds.append(ColumnValues.textKind)
                        column.texts.append(start: body, length: size)
                    } else {
                        column.kinds.append(ColumnValues.blobKind)
                        column.blobs.append(start: body, length: size)
                    }
                }
            }
        }
        guard isCanonical else { throw .notCanonical }
        if hasLast { self.rows = rows.filter { headerPlaces[Int($0)] < headerEnds[Int($0)] } }
        return column
    }

    /// - Throws: `.notCanonical` unless each record ended with its last column.
    func checkEnds() throws(CompressionError) {
        for row in 0..<ends.count where Int(bodyPlaces[row]) != ends[row] { throw .notCanonical }
    }

    private static func varint(
        _ bytes: [UInt8], at start: Int, end: Int
    ) throws(CompressionError) -> (value: Int, next: Int) {
        let found = bytes.withUnsafeBufferPointer { longVarint($0, at: start, end: end) }
        guard let found else { throw .notCanonical }
        return found
    }

    /// - Returns: `nil` if it is not minimal, or over 28 bits, which no size in a group reaches.
    private static func longVarint(
        _ bytes: UnsafeBufferPointer<UInt8>, at start: Int, end: Int
    ) -> (value: Int, next: Int)? {
        var value = 0
        var place = start
        while place < end, place - start < 4 {
            let byte = bytes[place]
            if place == start, byte == 0x80 { return nil }
            value = value << 7 | Int(byte & 0x7f)
            place += 1
            if byte < 0x80 { return (value, place) }
        }
        return nil
    }
}
