import GRDB
import RandomStores
import ShipCompression
import ShipProtocol
import StoreFormat
import SystemPackage
import TestSupport
import Testing

@testable import StoreEncoding

/// The search for what two stores have in common, each of which only one side has.
@Suite struct RangeSearchTests {
    private static func rows(_ count: Int) -> String {
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INT);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO t SELECT i, hex(randomblob(12)), i % 100 FROM n;
        CREATE INDEX i ON t(b);
        CREATE TABLE u (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        INSERT INTO u SELECT 'key ' || id, a FROM t WHERE id % 10 = 0;
        """
    }

    @Test(arguments: [
        ("UPDATE t SET a = 'changed' WHERE id = 10000", 700, 100),
        ("UPDATE u SET v = 'changed' WHERE k = 'key 5000'", 700, 100),
        ("DELETE FROM t WHERE id = 10000", 700, 100),
        ("DELETE FROM t WHERE id BETWEEN 5000 AND 12000", 3500, 100),
        ("INSERT INTO t(a, b) VALUES ('new', 1)", 700, 100),
        ("INSERT INTO t SELECT id + 100000, a || '!', b FROM t WHERE id <= 2000", 700, 26_000),
        ("CREATE TABLE z(a); CREATE INDEX j ON t(a); ALTER TABLE u ADD COLUMN w; PRAGMA user_version = 9", 700, 300),
        ("DROP TABLE u; DROP INDEX i", 700, 100),
        ("ALTER TABLE t RENAME TO t2; ALTER TABLE u RENAME TO t; ALTER TABLE t2 RENAME TO u", 200, 300),
        ("UPDATE t SET a = a || '?' WHERE id % 100 = 7", 13_000, 22_000),
        // The tree of the schema has the same name, and then the same rows.
        ("CREATE TABLE ''(a, b); INSERT INTO '' VALUES (1, 'x')", 700, 300),
        ("CREATE TABLE ''(a); DROP TABLE ''; CREATE TABLE s AS SELECT * FROM sqlite_schema", 1000, 1500),
    ])
    func `what differs is found in a few bytes`(change: String, most: Int, mostOfDelta: Int) throws {
        let stores = try StoreStates(pageSize: 4096, Self.rows(20_000), change)
        let found = try stores.search()
        #expect(found.bytes <= most)
        #expect(found.requests <= Limits.comparisons)
        let delta = try stores.delta(try #require(found.shared))
        #expect(delta.reduce(0) { $0 + $1.count } <= mostOfDelta)
        #expect(try stores.applied(delta) == stores.new)
    }

    @Test func `stores that have nothing in common find that out for little`() throws {
        let stores = try StoreStates(
            pageSize: 4096, Self.rows(50_000), "UPDATE t SET a = 'other ' || id; UPDATE u SET v = k || '!'")
        let found = try stores.search()
        #expect(found.shared == nil)
        #expect(found.bytes < stores.new.count / 300)
    }

    /// Digests do not deflate.
    @Test func `of a store that takes next to nothing not even a part is spent on digests`() throws {
        let stores = try StoreStates(
            pageSize: 4096,
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a, b);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
            INSERT INTO t SELECT i, 1, 'same' FROM n;
            """, "DELETE FROM t WHERE (id * 7919) % 100003 < 300")
        let found = try stores.search()
        #expect(found.shared == nil)
        #expect(found.bytes < 1100)
    }

    @Test func `of large rows digests cost little too`() throws {
        let large = "UPDATE t SET a = hex(zeroblob(300000)) || id WHERE id % 5000 = 0;"
        let stores = try StoreStates(
            pageSize: 4096,
            Self.rows(20_000) + large, "UPDATE t SET a = a || 'x' WHERE id = 5000; DELETE FROM t WHERE id = 10000")
        let found = try stores.search()
        #expect(found.bytes < 1500)
        #expect(try stores.applied(stores.delta(try #require(found.shared))) == stores.new)
    }

    // MARK: Anything

    @Test(arguments: 0..<UInt64(Soak.isOn ? 3000 : 60))
    func `any change of a store comes out of what a search finds`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        guard let (stores, comment) = try Self.changed(&random) else { return }
        let found = try stores.search()
        #expect(found.requests <= Limits.comparisons, comment)
        guard let shared = found.shared else { return }
        #expect(try stores.applied(stores.delta(shared)) == stores.new, comment)
    }

    /// A search that always fails finds nothing wrong.
    @Test func `most changes leave something that a search finds`() throws {
        var count = 0
        for seed in UInt64(0)..<30 {
            var random = RepeatableRandom(seed: seed)
            if let (stores, _) = try Self.changed(&random), try stores.search().shared != nil { count += 1 }
        }
        #expect(count > 15)
    }

    /// Whatever a consumer says, the delta is right, or decodes to nothing, or to what its digest refuses.
    @Test(arguments: 0..<UInt64(Soak.isOn ? 3000 : 60))
    func `a consumer that says wrong things does no harm`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let stores = try StoreStates(pageSize: 4096, Self.rows(2000), "UPDATE t SET a = 'changed' WHERE id % 50 = 0")
        do {
            let found = try stores.search { answer in
                var answer = answer
                guard Int.random(in: 0..<3, using: &random) == 0 else { return answer }
                switch Int.random(in: 0..<5, using: &random) {
                case 4:
                    guard let told = try? RangeTrees(decoding: answer) else { break }
                    let rows = told.trees.map(\.rows).shuffled(using: &random)
                    let trees = zip(told.trees.map(\.name).shuffled(using: &random), rows).map(RangeTrees.Tree.init)
                    answer = RangeTrees(nonce: told.nonce, settings: told.settings, trees: trees).encoded
                case 0: answer = Array(answer.prefix(Int.random(in: 0...answer.count, using: &random)))
                case 1: answer += random.bytes(Int.random(in: 1...9, using: &random))
                case 2: answer = random.bytes(Int.random(in: 1...200, using: &random))
                default:
                    for _ in 0..<4 where !answer.isEmpty {
                        let place = Int.random(in: 0..<answer.count, using: &random)
                        answer[place] = UInt8.random(in: 0...255, using: &random)
                    }
                }
                return answer
            }
            guard let shared = found.shared else { return }
            _ = try? stores.applied(stores.delta(shared))
        } catch is CompressionError {
        } catch is StoreFlaw {
        }
    }

    /// The sum of all counts could be more than a number holds.
    @Test func `a consumer that counts more rows than it has is refused`() throws {
        let stores = try StoreStates(
            pageSize: 4096, Self.rows(20_000), "DELETE FROM t WHERE id BETWEEN 2000 AND 18000")
        let search = try RangeSearch(try MemoryPages(stores.new), shapes: stores.shapes, nonce: Array(0..<16))
        let answers = try RangeAnswers(try MemoryPages(stores.base), nonce: Array(100..<116))
        var next = try search.next(after: answers.answer(search.begin()))
        #expect(throws: CompressionError.self) {
            while let request = next {
                next = try search.next(after: Self.counting(20_001, answers.answer(request), to: request))
            }
        }
    }

    /// An answer that counts as many rows of each part that is only counted.
    private static func counting(_ rows: UInt64, _ answer: [UInt8], to request: [UInt8]) throws -> [UInt8] {
        guard case .ranges(let trees) = try RangeRequest(decoding: request, isFirst: false) else { return answer }
        var (cursor, changed) = (AreaCursor(answer), [UInt8]())
        for part in trees.flatMap(\.parts) {
            if part.isCountOnly {
                _ = try cursor.varint()
                changed.appendVarint(rows)
            } else {
                RangeList.append(
                    try RangeList.digests(&cursor).map { RowRange(count: 0, digest: $0) }, to: &changed)
            }
        }
        return changed
    }

    /// Whoever makes up digests makes them come in any order.
    @Test func `what is the same rises on both sides, and is as much as can be`() {
        var random = RepeatableRandom(seed: 3)
        for _ in 0..<500 {
            let ours = (0..<UInt32.random(in: 0...12, using: &random)).map { $0 }
            let theirs = (0..<Int.random(in: 0...12, using: &random)).map { _ -> UInt32? in
                Int.random(in: 0..<5, using: &random) == 0 ? nil : UInt32.random(in: 0...14, using: &random)
            }
            let pairs = RangeAlignment.pairs(theirs, ours)
            #expect(pairs.allSatisfy { theirs[$0.theirs] == ours[$0.ours] })
            #expect(zip(pairs, pairs.dropFirst()).allSatisfy { $0.theirs < $1.theirs && $0.ours < $1.ours })
            // The longest rising list that ends at each place.
            var longest: [Int] = []
            for (place, digest) in theirs.enumerated() {
                guard let digest, digest < ours.count else {
                    longest.append(0)
                    continue
                }
                let before = (0..<place).filter { longest[$0] > 0 && theirs[$0] ?? digest < digest }
                longest.append(1 + (before.map { longest[$0] }.max() ?? 0))
            }
            #expect(pairs.count == longest.max() ?? 0)
        }
    }

    @Test(arguments: 0..<UInt64(Soak.isOn ? 3000 : 60))
    func `a producer that asks wrong things gets no more than it may`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let stores = try StoreStates(pageSize: 4096, Self.rows(3000), "SELECT 1")
        let answers = try RangeAnswers(try MemoryPages(stores.base), nonce: Array(0..<16))
        var bytes = try answers.answer(Array(0..<16)).count
        for _ in 0..<Limits.comparisons {
            let request: [UInt8]
            if Bool.random(using: &random) {
                request = random.bytes(Int.random(in: 0...40, using: &random))
            } else {
                let place = Int.random(in: 0..<5, using: &random)
                let first = Int.random(in: 0..<3, using: &random)
                let part = RangeRequest.Part(
                    ranges: first..<first + Int.random(in: 1...60, using: &random),
                    isCountOnly: Bool.random(using: &random))
                request =
                    RangeRequest.ranges([
                        RangeRequest.Tree(place: place, level: Int.random(in: 0...20, using: &random), parts: [part])
                    ]).encoded
            }
            do {
                bytes += try answers.answer(request).count
            } catch is CompressionError {
                break
            }
        }
        #expect(bytes <= max(16_384, stores.base.count / 50))
    }

    /// Of each side the nonce is another one each time.
    @Test func `digests tell nothing of those of another search`() throws {
        let stores = try StoreStates(pageSize: 4096, Self.rows(3000), "SELECT 1")
        let digests = try [(1, 1), (2, 1), (1, 2)].flatMap { (ours: UInt8, theirs: UInt8) in
            let answers = try RangeAnswers(
                try MemoryPages(stores.base), nonce: [UInt8](repeating: theirs, count: 16))
            let told = try RangeTrees(decoding: answers.answer([UInt8](repeating: ours, count: 16)))
            return told.trees.flatMap { [$0.name, $0.rows.digest] }
        }
        #expect(Set(digests).count == digests.count)
        #expect(Set((0..<100).map { _ in RangeAnswers.makeNonce() }).count == 100)
    }

    /// A random store, and what a few changes make of it.
    ///
    /// - Returns: `nil` for what has no canonical form.
    private static func changed(_ random: inout RepeatableRandom) throws -> (StoreStates, Comment)? {
        let folder = try ScratchFolder.inMemory()
        let queue = try DatabaseQueue.repeatable(path: folder.path.appending("source"), seed: random.next())
        let (old, new) = (folder.path.appending("old"), folder.path.appending("new"))
        let count = Int.random(in: 1...5000, using: &random)
        try queue.writeWithoutTransaction { try $0.execute(sql: Self.rows(count)) }
        try queue.vacuum(into: old.string)
        let changes = try (0..<Int.random(in: 1...4, using: &random)).compactMap { _ in
            try queue.writeWithoutTransaction { try RandomChange.made(in: $0, &random) }
        }
        try queue.vacuum(into: new.string)
        try queue.close()
        guard let stores = try? StoreStates(of: old, new) else { return nil }
        return (stores, Comment("\(changes.map { "\($0.kind): \($0.sql.prefix(200))" })"))
    }
}
