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

    var isBlob: Bool {
        if case .blob = self { return true }
        return false
    }

    /// A number, as SQLite adds it.
    var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .real(let bits): Double(bitPattern: bits)
        case .null, .text, .blob: nil
        }
    }

    /// The values of a sound record; `nil` for another.
    static func values(of record: [UInt8]) -> [DeltaValue]? {
        var columns = RecordColumns()
        guard columns.read(record.span) else { return nil }
        return (0..<columns.count).map { value in
            let (type, range) = (columns.types[value], columns.starts[value]..<columns.starts[value + 1])
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
        Varint.append(UInt64(CanonicalRecord.headerSizeWithItself(header.count)), to: &record)
        return record + header + body
    }
}

extension ColumnValues {
    mutating func append(_ value: DeltaValue) {
        switch value {
        case .null: kinds.append(ValueKind.null)
        case .integer(let integer):
            kinds.append(ValueKind.integer)
            integers.append(integer)
        case .real(let bits):
            kinds.append(ValueKind.real)
            reals.append(bits)
        case .text(let bytes):
            kinds.append(ValueKind.text)
            texts.append(bytes)
        case .blob(let bytes):
            kinds.append(ValueKind.blob)
            blobs.append(bytes)
        }
    }

    /// - Parameter ordinal: The place of the row's value among those of its kind.
    func value(_ row: Int, _ ordinal: Int) -> DeltaValue {
        switch kinds[row] {
        case ValueKind.integer: .integer(integers[ordinal])
        case ValueKind.real: .real(reals[ordinal])
        case ValueKind.text: .text(texts[ordinal])
        case ValueKind.blob: .blob(blobs[ordinal])
        default: .null
        }
    }
}
