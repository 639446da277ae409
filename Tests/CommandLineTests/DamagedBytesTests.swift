import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// The way back works whatever has happened to a store's bytes: a kept copy is restored over it, and what is left of it is removed.
@Suite struct DamagedBytesTests {
    private let desk: Desk
    private let store: FilePath

    init() throws {
        desk = try Desk()
        store = desk["Notes.db"]
    }

    /// What happens to the bytes of a store, by a seed.
    private struct Damage: CustomStringConvertible {
        private(set) var description: String
        private(set) var bytes: [UInt8]

        init(to bytes: [UInt8], seed: UInt64) {
            var random = RepeatableRandom(seed: seed)
            self.bytes = bytes
            description = "seed \(seed):"
            let page = Int(bytes[16]) << 8 | Int(bytes[17])
            for _ in 0...Int.random(in: 0...1, using: &random) {
                let start = Int.random(in: 0..<bytes.count / page, using: &random) * page
                switch Int.random(in: 0...3, using: &random) {
                case 0, 1: set(Int.random(in: 16..<100, using: &random), 1, UInt8.random(in: 0...255, using: &random))
                case 2: set(start, page, random.next() & 1 == 0 ? 0xff : 0)
                default:
                    let offset = Int.random(in: start..<start + page, using: &random)
                    set(offset, 1, UInt8.random(in: 0...255, using: &random))
                }
            }
        }

        /// What was found to be refused once.
        init(to bytes: [UInt8], at offset: Int, _ values: [UInt8]) {
            self.bytes = bytes
            description = ""
            self.bytes.replaceSubrange(offset..<offset + values.count, with: values)
            description = "\(values) at \(offset)"
        }

        private mutating func set(_ offset: Int, _ count: Int, _ value: UInt8) {
            bytes.replaceSubrange(offset..<offset + count, with: repeatElement(value, count: count))
            description += " \(count) bytes \(value) from \(offset)"
        }
    }

    private func makeStore(_ preparation: String) throws {
        let queue = try TestStore.open(store, preparation: "PRAGMA page_size = 1024; \(preparation)")
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT UNIQUE, body BLOB);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
                    INSERT INTO note SELECT i, 'note ' || i, randomblob(i * 60) FROM n;
                    DELETE FROM note WHERE id % 5 = 0;
                    """)
        }
        try queue.close()
    }

    @Test(
        arguments: [
            "PRAGMA auto_vacuum = NONE", "PRAGMA auto_vacuum = FULL", "PRAGMA auto_vacuum = INCREMENTAL",
            "PRAGMA journal_mode = WAL",
        ])
    func `a kept copy can be restored over a damaged store, and a damaged store can be removed`(
        preparation: String
    ) async throws {
        try makeStore(preparation)
        let kept = try await desk.run("copy", "Notes.db", "--keep-in", "kept").expectSuccess()
        let copy = try #require(kept.lines.first)
        let content = try StoreContent(of: store)
        let whole = [UInt8](try Data(contentsOf: URL(filePath: store.string)))
        let seed = UInt64.random(in: 0..<1 << 32)
        // The schema's format, the largest root page, the length of the free list, the versions, the first free page, an overflow page.
        let known = [(47, [5]), (52, [141, 0, 0, 1]), (36, [7, 0, 0, 0]), (18, [3, 3]), (32, [0, 0, 1, 9])]
        let damages =
            known.map { Damage(to: whole, at: $0.0, $0.1.map { UInt8($0) }) }
            + (0..<(Soak.isOn ? 400 : 8)).map { Damage(to: whole, seed: seed &+ UInt64($0)) }
        for damage in damages {
            let comment: Comment = "\(preparation), \(damage)"
            try put(damage)
            let restored = try await desk.run("restore", copy, "--over", "Notes.db", "-q")
            #expect(restored.status == .exited(0), "\(comment) \(restored.stderr)")
            #expect(try Self.content(of: store) == content, comment)
            try put(damage)
            let destroyed = try await desk.run("destroy", "Notes.db", "--force", "-q")
            #expect(destroyed.status == .exited(0), "\(comment) \(destroyed.stderr)")
            #expect((try? PlatformCalls.status(of: store)) == nil, comment)
        }
    }

    /// In place of whatever is there.
    private func put(_ damage: Damage) throws {
        for name in try Folder.names(in: desk.path) where name.hasPrefix("Notes.db") || name == ".Notes-safety" {
            try Folder.removeTree(at: desk[name])
        }
        try Data(damage.bytes).write(to: URL(filePath: store.string))
    }

    /// - Returns: `nil` if SQLite does not call it whole.
    private static func content(of store: FilePath) throws -> StoreContent? {
        let queue = try TestStore.open(store)
        defer { try? queue.close() }
        return try queue.read { database in
            guard try String.fetchAll(database, sql: "PRAGMA integrity_check") == ["ok"] else { return nil }
            return try StoreContent(database)
        }
    }
}
