import StoreFormat

/// Converts records of one store to the settings of another, and to the columns of another table.
struct RecordForm {
    let isSchema: Bool
    let integers: IntegerForm
    /// See `TreeHead.columns`.
    var columns: [Int?]?
    private let from: UInt32
    private let to: UInt32
    private let changesIntegers: Bool

    init(from source: StoreSettings, to target: StoreSettings, isSchema: Bool) {
        self.isSchema = isSchema
        integers = target.integers
        (from, to) = (max(1, source.textEncoding), max(1, target.textEncoding))
        changesIntegers = source.integers != target.integers
    }

    /// Whether records change at all.
    var isOther: Bool { isSchema || changesIntegers || from != to || columns != nil }

    /// - Throws: `StoreFlaw.record`.
    func apply(to record: inout [UInt8]) throws {
        if isSchema {
            guard let row = SchemaRow(record.span) else { throw StoreFlaw.schemaRow(0) }
            record = row.encoded(from: record.span, root: 1, integers)
        } else if changesIntegers {
            var converted: [UInt8] = []
            guard CanonicalRecord.append(record.span, integers, to: &converted) else {
                throw StoreFlaw.record(page: 0)
            }
            record = converted
        }
        if from != to {
            guard let values = DeltaValue.values(of: record) else { throw StoreFlaw.record(page: 0) }
            record = DeltaValue.record(of: values.map(transcoded), integers)
        }
        if let columns { record = try Self.record(of: columns, in: record) }
    }

    /// A record of columns of another one. Those that it lacks are NULL.
    private static func record(of columns: [Int?], in record: [UInt8]) throws -> [UInt8] {
        var places = RecordColumns()
        guard places.read(record.span) else { throw StoreFlaw.record(page: 0) }
        var (header, body): ([UInt8], [UInt8]) = ([], [])
        for column in columns {
            guard let column, column < places.count else {
                Varint.append(SerialType.null, to: &header)
                continue
            }
            Varint.append(places.types[column], to: &header)
            body += record[places.starts[column]..<places.starts[column + 1]]
        }
        var made: [UInt8] = []
        CanonicalRecord.append(header: header, body, to: &made)
        return made
    }

    private func transcoded(_ value: DeltaValue) -> DeltaValue {
        guard case .text(let bytes) = value, let text = String(bytes: bytes, textEncoding: from) else {
            return value
        }
        return .text(text.bytes(textEncoding: to)[...])
    }

    /// The name of a tree in the other store.
    func name(_ name: [UInt8]) -> [UInt8] {
        guard from != to, case .text(let bytes) = transcoded(.text(name[...])) else { return name }
        return Array(bytes)
    }
}
