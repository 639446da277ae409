import StoreFormat

/// A row. One value is reused for many rows.
struct DeltaRow {
    var rowid: Int64 = 0
    /// Bytes of the record.
    var size = 0
    /// Empty for a long one.
    var record: [UInt8] = []
    /// Its place in the tree.
    var place = 0
    /// The hash of a long record; 0 until its bytes are read.
    var longHash: UInt64 = 0

    var isLong: Bool { size > CanonicalForm.longestHeldRecord }

    /// A hash of the record. Its key differs from process to process.
    var hash: UInt64 { isLong ? longHash : record.withUnsafeBytes { $0.keyedHash } }

    func hasSameRecord(as other: DeltaRow) -> Bool {
        size == other.size && longHash == other.longHash && record.hasSameBytes(as: other.record)
    }
}
