import Crypto
import GRDB
import GRDBSQLite
import ShipProtocol

/// SHA-256 over the rows of one table, value by value, straight from SQLite's memory.
///
/// Source: `Protocol/README.md` section 4.8. Vectors: `Protocol/Vectors/tables_*`.
struct RowDigest: ~Copyable {
    /// The tag of a value and the 8 bytes of its number or length.
    private static let headSize = 9
    /// Bytes to gather before they are hashed: short values one by one would cost more than their bytes.
    private static let bufferSize = 64 * 1024

    private var hash = SHA256()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 16)
    private var filled = 0

    deinit { buffer.deallocate() }

    /// A value of the row on which the statement stands.
    ///
    /// - Throws: SQLite's `SQLITE_NOMEM` where a text cannot be converted.
    mutating func append(_ statement: OpaquePointer, _ column: CInt) throws {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: append(integer: sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: append(real: sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            // First the text, then its length: that of the converted text [sqlite.org/c3ref/column_blob.html].
            guard let text = sqlite3_column_text(statement, column) else {
                throw DatabaseError(resultCode: .SQLITE_NOMEM)
            }
            append(SQLITE_TEXT, UnsafeRawPointer(text), sqlite3_column_bytes(statement, column))
        case SQLITE_BLOB:
            let blob = sqlite3_column_blob(statement, column)
            append(SQLITE_BLOB, blob, sqlite3_column_bytes(statement, column))
        default: appendNull()
        }
    }

    mutating func append(integer: Int64) { appendHead(SQLITE_INTEGER, UInt64(bitPattern: integer)) }

    mutating func append(real: Double) { appendHead(SQLITE_FLOAT, real.bitPattern) }

    mutating func appendNull() {
        makeRoom()
        buffer[filled] = UInt8(SQLITE_NULL)
        filled += 1
    }

    /// The beginning of a text or a blob whose bytes come in pieces.
    mutating func begin(_ storageClass: CInt, length: CInt) { appendHead(storageClass, UInt64(length)) }

    mutating func append(piece: UnsafeRawBufferPointer) {
        flush()
        hash.update(bufferPointer: piece)
    }

    /// - Parameter rows: How many have been appended.
    consuming func finish(rows: Int64) -> TableContent {
        flush()
        return TableContent(rows: rows, sha256: ContentDigest(sha256: Array(hash.finalize())))
    }

    private mutating func append(_ storageClass: CInt, _ bytes: UnsafeRawPointer?, _ count: CInt) {
        appendHead(storageClass, UInt64(count))
        guard let bytes, count > 0 else { return }
        let content = UnsafeRawBufferPointer(start: bytes, count: Int(count))
        if content.count <= buffer.count - filled {
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyMemory(from: content)
            filled += content.count
        } else {
            append(piece: content)
        }
    }

    private mutating func appendHead(_ storageClass: CInt, _ number: UInt64) {
        makeRoom()
        buffer[filled] = UInt8(truncatingIfNeeded: storageClass)
        buffer.storeBytes(of: number.bigEndian, toByteOffset: filled + 1, as: UInt64.self)
        filled += Self.headSize
    }

    private mutating func makeRoom() {
        if buffer.count - filled < Self.headSize { flush() }
    }

    private mutating func flush() {
        hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<filled]))
        filled = 0
    }
}
