import EssentialFoundation
import GRDB
import ShipStore

extension RowChanges {
    /// As `watch --json` writes it; `Protocol/OUTPUT.md` says what is in it.
    var json: JSONObject {
        switch self {
        case .table(let reason): ["any": reason.rawValue]
        case .rows(let rows):
            [
                "key": rows.keyColumns, "inserted": rows.inserted.map(\.json), "updated": rows.updated.map(\.json),
                "deleted": rows.deleted.map(\.json),
            ]
        }
    }

    /// In words: `2 inserted, 1 updated`; `nil` for what the numbers of rows say already.
    var text: String? {
        switch self {
        case .table(.new), .table(.gone): nil
        case .table(.declaration): "declared otherwise"
        case .table(.tooMany): "too many to tell"
        case .table(.unknown): "any row"
        case .rows(let rows):
            [(rows.inserted, "inserted"), (rows.updated, "updated"), (rows.deleted, "deleted")]
                .filter { !$0.0.isEmpty }.map { "\($0.0.count) \($0.1)" }.joined(separator: ", ")
        }
    }
}

extension ChangedRow {
    fileprivate var json: JSONObject {
        ["key": key.map(KeyValue.init), "entity": entity, "objectID": objectID?.absoluteString]
    }
}

/// A value of a key: a number, a text, or an object for what JSON has no value for.
private struct KeyValue: Encodable {
    let value: DatabaseValue

    func encode(to encoder: any Encoder) throws {
        switch value.storage {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .int64(let integer): try integer.encode(to: encoder)
        case .double(let real) where real.isFinite: try real.encode(to: encoder)
        case .double(let real): try (["real": "\(real)"] as JSONObject).encode(to: encoder)
        case .string(let text): try text.encode(to: encoder)
        case .blob(let data):
            let digits = data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            try (["blob": digits] as JSONObject).encode(to: encoder)
        }
    }
}
