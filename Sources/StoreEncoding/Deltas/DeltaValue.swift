import ShipCompression
import StoreFormat

/// One value of a record.
enum DeltaValue: Hashable {
    case null
    case integer(Int64)
    /// The bit pattern.
    case real(UInt64)
    case text(ArraySlice<UInt8>)
    case blob(ArraySlice<UInt8>)

    /// The bytes of a text or a blob.
    var string: ArraySlice<UInt8>? {
        switch self {
        case .text(let bytes), .blob(let bytes): bytes
        case .null, .integer, .real: nil
        }
    }

    /// A hash of it, where hardly another row has the same value by chance.
    var key: UInt64? {
        switch self {
        case .text(let bytes), .blob(let bytes): bytes.count < 6 ? nil : bytes.withUnsafeBytes { $0.keyedHash }
        case .integer(let integer):
            integer.magnitude < 1 << 24 ? nil : withUnsafeBytes(of: integer.littleEndian) { $0.keyedHash }
        case .real(let bits): withUnsafeBytes(of: bits.littleEndian) { $0.keyedHash }
        case .null: nil
        }
    }

    var isBlob: Bool {
        if case .blob = self { return true }
        return false
    }

    /// The value as SQLite adds it; `nil` for one that is not a number.
    var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .real(let bits): Double(bitPattern: bits)
        case .null, .text, .blob: nil
        }
    }

    /// The values of a record; `nil` if the record is malformed.
    static func values(of record: [UInt8]) -> [DeltaValue]? {
        var columns = RecordColumns()
        guard columns.read(record.span) else { return nil }
        return (0..<columns.count).map { value in
            let (type, range) = (columns.types[value], columns.range(value))
            if type == SerialType.null { return .null }
            if type == SerialType.real {
                return .real(UInt64(bitPattern: CanonicalRecord.integer(6, in: record.span, at: range.lowerBound)))
            }
            if SerialType.isInteger(type) {
                return .integer(CanonicalRecord.integer(type, in: record.span, at: range.lowerBound))
            }
            return SerialType.isText(type) ? .text(record[range]) : .blob(record[range])
        }
    }

    /// The canonical record of values.
    static func record(of values: [DeltaValue], _ integers: IntegerForm) -> [UInt8] {
        var (header, body): ([UInt8], [UInt8]) = ([], [])
        for value in values {
            switch value {
            case .null: header.append(0)
            case .integer(let integer): CanonicalRecord.append(integer, integers, header: &header, body: &body)
            case .real(let bits):
                header.append(UInt8(SerialType.real))
                withUnsafeBytes(of: bits.bigEndian) { body.append(contentsOf: $0) }
            case .text(let bytes):
                Varint.append(SerialType.text(length: bytes.count), to: &header)
                body.append(contentsOf: bytes)
            case .blob(let bytes):
                Varint.append(SerialType.blob(length: bytes.count), to: &header)
                body.append(contentsOf: bytes)
            }
        }
        var record: [UInt8] = []
        record.reserveCapacity(header.count + body.count + 3)
        CanonicalRecord.append(header: header, body, to: &record)
        return record
    }
}

extension ColumnValues {
    mutating func append(_ value: DeltaValue) {
        switch value {
        case .null: kinds.append(ColumnValues.nullKind)
        case .integer(let integer):
            kinds.append(ColumnValues.integerKind)
            integers.append(integer)
        case .real(let bits):
            kinds.append(ColumnValues.realKind)
            reals.append(bits)
        case .text(let bytes):
            kinds.append(ColumnValues.textKind)
            texts.append(bytes)
        case .blob(let bytes):
            kinds.append(ColumnValues.blobKind)
            blobs.append(bytes)
        }
    }

    /// - Parameter ordinal: The place of the value among those of its kind.
    func value(_ row: Int, _ ordinal: Int) -> DeltaValue {
        switch kinds[row] {
        case ColumnValues.integerKind: .integer(integers[ordinal])
        case ColumnValues.realKind: .real(reals[ordinal])
        case ColumnValues.textKind: .text(texts[ordinal])
        case ColumnValues.blobKind: .blob(blobs[ordinal])
        default: .null
        }
    }
}

// Estimates of encoded sizes, in bytes: good enough to choose the row of the base from which a new row is made.

extension DeltaValue {
    var cost: Int {
        switch self {
        case .null: 1
        case .integer(let integer): 1 + (64 - abs(Double(integer)).leadingZeroBits) / 8
        case .real: 8
        case .text(let bytes): 1 + bytes.count * 2 / 3
        case .blob(let bytes): 1 + bytes.count
        }
    }
}

extension [DeltaValue] {
    var cost: Int { reduce(0) { $0 + $1.cost } }

    /// The size of the edit that makes this row of another.
    func cost(from old: [DeltaValue]) -> Int {
        var cost = 2 + abs(count - old.count)
        for (column, value) in enumerated() {
            let before = column < old.count ? old[column] : .null
            guard value != before else { continue }
            switch (before, value) {
            case (.integer(let first), .integer(let second)):
                cost += 1 + Swift.min(value.cost, DeltaValue.integer(second &- first).cost)
            case (.text(let first), .text(let second)), (.blob(let first), .blob(let second)):
                let splice = Splice(from: first, to: second)
                var least = Swift.min(1 + value.cost, 4 + splice.inserted.count)
                if value.isBlob, least >= Deflate.shortestBlob, Deflate.content(ofBlob: first) != nil,
                    Deflate.content(ofBlob: second) != nil
                {
                    least /= 4
                }
                cost += least
            case (.real, .real), (.real, .integer), (.integer, .real):
                let digits = EditMethod.change(from: before, to: value)?.digits
                cost += 1 + (digits.map { Swift.min(value.cost, DeltaValue.integer($0).cost) } ?? value.cost)
            default: cost += 1 + value.cost
            }
        }
        return cost
    }
}

extension Double {
    /// Leading zero bits of a whole number of 64 bits.
    fileprivate var leadingZeroBits: Int { self < 1 ? 64 : max(0, 63 - Int(exponent)) }
}
