import Foundation
import GRDB
import ShipProtocol
import SystemPackage
import TestSupport

/// Stores that say their own number in their header and on every page of a table: a read that saw two of them at once
/// would find two numbers.
struct NumberedStore {
    /// In place of the number.
    private static let mark = Array("@@NUMBER".utf8)
    private static let rows = 30

    private let template: [UInt8]
    private let marks: [Int]

    init(in folder: FilePath) throws {
        let path = folder.appending("template.sqlite")
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE t(number BLOB, filler BLOB);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.rows))
                INSERT INTO t SELECT CAST('\(String(decoding: Self.mark, as: UTF8.self))' AS BLOB), zeroblob(3000) FROM n;
                """)
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path.string)))
        template = bytes
        // Past the first page, which holds the schema.
        marks = bytes.indices.dropFirst(4096).filter { bytes[$0...].starts(with: Self.mark) }
        guard marks.count == Self.rows else { throw SampleWords.Bad() }
    }

    /// Where `PRAGMA user_version` is [sqlite.org/fileformat2.html section 1.3].
    private static let userVersionOffset = 60

    func bytes(of number: Int) -> [UInt8] {
        var bytes = template
        let text = String(number)
        let digits = Array((String(repeating: "0", count: Self.mark.count - text.count) + text).utf8)
        for offset in marks { bytes.replaceSubrange(offset..<(offset + digits.count), with: digits) }
        for byte in 0..<4 {
            bytes[Self.userVersionOffset + byte] = UInt8(truncatingIfNeeded: number >> (24 - 8 * byte))
        }
        return bytes
    }

    /// - Throws: `Mixed` if the store says more than one number.
    static func number(in database: Database) throws -> Int {
        let header = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let texts = try String.fetchAll(database, sql: "SELECT DISTINCT CAST(number AS TEXT) FROM t")
        let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM t")
        guard texts.count == 1, texts.first.flatMap({ Int($0) }) == header, count == rows else {
            throw Mixed(header: header, pages: texts)
        }
        return header
    }

    struct Mixed: Error {
        let header: Int
        let pages: [String]
    }
}
