import GRDB
import ShipProtocol
import StoreFiles
import StoreFormat
import StoreSnapshot
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Encodings that go on where one was broken off.
@Suite struct `An encoder that goes on after earlier pieces` {
    /// A canonical copy to be encoded.
    struct Copy: Sendable {
        let bytes: [UInt8]
        let pageSize: Int
        let shapes: [String: IndexShape]

        init(_ sql: String) throws {
            let folder = try ScratchFolder.inMemory()
            let path = folder.path.appending("copy")
            let queue = try DatabaseQueue(path: path.string)
            try queue.writeWithoutTransaction { try $0.execute(sql: sql + "; VACUUM") }
            shapes = try queue.unsafeRead { try IndexShape.all(in: $0) }
            try queue.close()
            bytes = try MemoryPages.canonicalForm(of: PageReading.bytes(of: path))
            pageSize = try MemoryPages(bytes).pageSize
        }

        func encoder(_ store: StoreToEncode) -> StoreEncoder {
            StoreEncoder(store, open: { [bytes] in try MemoryPages(bytes) }, makeSpillFile: { MemorySpill() })
        }

        func store(
            _ settings: CompressionSettings, selfCheck: Bool = true, goingOnAfter earlier: EarlierPieces? = nil
        ) -> StoreToEncode {
            let digest = ContentDigest(hashing: bytes)
            let facts = StoreFacts(
                size: Int64(bytes.count), sha256: digest, pageSize: pageSize, pageCount: Int64(bytes.count / pageSize),
                textEncoding: .utf8, applicationID: 0, userVersion: 0, schemaSHA256: digest)
            return StoreToEncode(
                path: "/", facts: facts, shapes: shapes, settings: settings, selfCheck: selfCheck, cores: 2,
                isAwaited: true,
                goingOnAfter: earlier)
        }

        func built(from segments: [[UInt8]]) throws -> [UInt8] {
            let target = MemoryPages(pageSize: pageSize)
            let builder = StoreBuilder(pageSize: pageSize, pageCount: UInt32(bytes.count / pageSize)) { _ in target }
            for segment in segments { try builder.append(segment) }
            #expect(builder.isComplete)
            return target.bytes
        }
    }

    /// What an encoder delivered.
    struct Stream {
        var data: [[UInt8]] = []
        var notes: [PieceNote] = []
        var storeBytes: Int64 = 0

        init() {}

        init(
            _ encode: ((EncodedSegment) async throws -> Void) async throws -> Void,
            each: @escaping (Int) -> Void = { _ in }
        ) async throws {
            try await encode { segment in
                data.append(segment.bytes)
                notes.append(PieceNote(segment.setting, isLast: segment.isLast))
                storeBytes += segment.storeBytes
                each(data.count)
            }
        }

        /// Its first pieces.
        func earlier(_ count: Int) -> EarlierPieces { earlier(Array(notes[..<count])) }

        func earlier(_ notes: [PieceNote]) -> EarlierPieces { EarlierPieces(notes) { [data] in data[$0] } }
    }

    private static func numbers(_ count: Int) -> String {
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
    }

    /// Rows of many tables, with indexes that follow from them and some that do not; rows of several chunks; a small store; a table that has
    /// what another has.
    private static let stores = [
        (0..<7).map { table in
            """
            CREATE TABLE t\(table) (id INTEGER PRIMARY KEY, a TEXT, b INTEGER);
            \(numbers(4000)) INSERT INTO t\(table) SELECT i, 'row ' || i || hex(zeroblob(60)), i * 7919 % 1000 FROM n;
            CREATE INDEX a\(table) ON t\(table)(a); CREATE INDEX p\(table) ON t\(table)(b) WHERE b > 3;
            """
        }.joined(),
        """
        CREATE TABLE l (id INTEGER PRIMARY KEY, a, b BLOB); CREATE TABLE s (x);
        INSERT INTO l VALUES (1, 'one', zeroblob(3000000)), (2, 'two', zeroblob(10)), (3, hex(zeroblob(1300000)), 4);
        \(numbers(6000)) INSERT INTO s SELECT hex(zeroblob(200)) FROM n; CREATE INDEX sx ON s(x);
        """,
        "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'one'), (2, 'two'); CREATE INDEX ta ON t(a, b);",
        """
        CREATE TABLE a (x); CREATE TABLE b (id INTEGER PRIMARY KEY, x);
        \(numbers(400)) INSERT INTO a SELECT randomblob(6000) FROM n; INSERT INTO b(x) SELECT x FROM a ORDER BY x;
        """,
    ]

    @Test(arguments: stores.indices, [CompressionLevel.fastest, .smallest])
    func `makes the rest of a store, wherever it was broken off`(store: Int, level: CompressionLevel) async throws {
        let copy = try Copy(Self.stores[store])
        // From the trial of a fast link to a slow one, and back: capacities change in between.
        let settings = CompressionSettings(level, isOnTrial: level == .fastest)
        let whole = try await Stream(copy.encoder(copy.store(settings)).encode) { count in
            if count == 2 { settings.set(level == .fastest ? .smallest : .fastest) }
        }
        #expect(whole.notes.map(\.isLast) == whole.data.indices.map { $0 == whole.data.count - 1 })
        #expect(copy.bytes.count < 1 << 22 || Set(whole.notes.map(\.setting)).count > 2)
        var referring = 0
        // In a short run some, and one of both in turn.
        let counts = Soak.stride(0..<whole.data.count, by: 3) + [whole.data.count]
        for (turn, count) in counts.enumerated() {
            for selfCheck in [true, false] where Soak.isOn || selfCheck == (turn % 2 == 0) {
                let settings = CompressionSettings(selfCheck ? .fastest : .smallest, isOnTrial: true)
                let store = copy.store(settings, selfCheck: selfCheck, goingOnAfter: whole.earlier(count))
                let rest = try await Stream(copy.encoder(store).encode)
                #expect(try copy.built(from: whole.data[..<count] + rest.data) == copy.bytes)
                referring += rest.data.count { SegmentForm(rawValue: $0[0]).contains(.runs) }
                #expect((rest.notes.last ?? whole.notes.last)?.isLast == true)
                #expect(count == whole.data.count || rest.storeBytes == Int64(copy.bytes.count))
                #expect(count < whole.data.count || rest.data.isEmpty)
            }
        }
        // The last has noise twice, too far apart for one segment; the third has one segment.
        #expect(store == 3 ? referring > 0 : store == 2 ? referring == 0 : true)
    }

    @Test func `goes on after what was gone on with before`() async throws {
        let copy = try Copy(Self.stores[0])
        let first = try await Stream(copy.encoder(copy.store(CompressionSettings(.smallest))).encode)
        var stream = Stream()
        var isWhole = false
        while !isWhole {
            let settings = CompressionSettings(stream.data.count % 2 == 0 ? .standard : .smallest)
            let encoder = copy.encoder(
                copy.store(settings, goingOnAfter: stream.earlier(stream.data.count)))
            let rest = try await Stream(encoder.encode)
            stream.data.append(rest.data[0])
            stream.notes.append(rest.notes[0])
            isWhole = rest.notes[0].isLast
        }
        #expect(try copy.built(from: stream.data) == copy.bytes)
        #expect(first.data.count > 2 && stream.data.count > 2)
    }

    @Test func `finds that notes or pieces are not those of the copy`() async throws {
        let copy = try Copy(Self.stores[0])
        let whole = try await Stream(copy.encoder(copy.store(CompressionSettings(.smallest))).encode)
        let count = whole.data.count - 1
        let notes = Array(whole.notes[..<count])
        var bad: [[PieceNote]] = [notes + notes, notes + [whole.notes[0]]]
        func spoil(_ place: Int, _ note: PieceNote) {
            var notes = notes
            notes[place] = note
            bad.append(notes)
        }
        let settings: [UInt64] = [0, 1, 4095, 1 << 21, 1 << 22, 1 << 62, .max >> 1]
        for setting in settings {
            for place in [0, count - 1] { spoil(place, PieceNote(setting, isLast: false)) }
        }
        for place in 0..<count { spoil(place, PieceNote(notes[place].setting, isLast: true)) }
        for notes in bad where !whole.notes.starts(with: notes) {
            try await expectFailure(copy, EarlierPieces(notes) { whole.data[min($0, count)] })
        }
        var random = RepeatableRandom(seed: 1)
        for place in 0..<count {
            let spoilt = Int.random(in: 0..<whole.data[place].count, using: &random)
            try await expectFailure(
                copy,
                EarlierPieces(notes) { index in
                    var data = whole.data[index]
                    if index == place { data[spoilt] ^= 4 }
                    return data
                })
        }
        struct Unreadable: Error {}
        await #expect(throws: EarlierPieces.Mismatch.self) {
            let earlier = EarlierPieces(notes) { _ in throw Unreadable() }
            _ = try await Stream(
                copy.encoder(copy.store(CompressionSettings(.fastest), goingOnAfter: earlier)).encode)
        }
    }

    /// With the check it fails; without, at most what comes out does not decode to the copy.
    private func expectFailure(_ copy: Copy, _ earlier: EarlierPieces) async throws {
        do {
            _ = try await Stream(
                copy.encoder(copy.store(CompressionSettings(.fastest), goingOnAfter: earlier)).encode)
            Issue.record("\(earlier.notes) were gone on with")
        } catch is EarlierPieces.Mismatch {
        } catch EncodingFailure.selfCheckFailed {
        }
        let store = copy.store(CompressionSettings(.fastest), selfCheck: false, goingOnAfter: earlier)
        do {
            _ = try await Stream(copy.encoder(store).encode)
        } catch is EarlierPieces.Mismatch {
        }
    }

    // MARK: Deltas

    private func delta(
        _ base: Copy, _ new: Copy, _ level: CompressionLevel, goingOnAfter earlier: EarlierPieces? = nil
    ) async throws -> Stream {
        let encoder = AsyncDeltaEncoder(
            CompressionSettings(level), shapes: new.shapes, limit: .max, openBase: { try MemoryPages(base.bytes) },
            open: { try MemoryPages(new.bytes) }, makeSpillFile: { MemorySpill() })
        return try await Stream { try await encoder.encode(goingOnAfter: earlier, deliver: $0) }
    }

    @Test func `makes the rest of a delta, at the level of then, and of no other`() async throws {
        let sql = """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);
            \(Self.numbers(9000)) INSERT INTO t SELECT i, replace(hex(randomblob(150)), '7', ' in all ') FROM n;
            \(Self.numbers(1000)) UPDATE t SET a = (
                SELECT group_concat(printf('%x', (t.id + 977 * i) * 2654435761 % 4294967291), '') FROM n WHERE i < 40)
                WHERE id % 9 = 0;
            """
        let base = try Copy(sql)
        // Little in common, so that there are several segments, and enough to be smaller than the whole; and something that levels
        // find in other ways.
        let new = try Copy(sql)
        let whole = try await delta(base, new, .standard)
        #expect(whole.data.count > 3 && whole.notes.allSatisfy { $0.setting == 6 })
        for count in Soak.stride(0..<whole.data.count, by: 7) + [whole.data.count] {
            let level = count == 0 ? CompressionLevel.standard : .fastest
            let rest = try await delta(base, new, level, goingOnAfter: whole.earlier(count))
            #expect(whole.data[..<count] + rest.data == whole.data[...])
            #expect(whole.notes[..<count] + rest.notes == whole.notes[...])
        }
        let other = try await delta(base, new, .fastest)
        let notes = Array(whole.notes[..<2])
        let tooMany = whole.notes.map { PieceNote($0.setting, isLast: false) } + notes
        let bad: [EarlierPieces] = [
            other.earlier([PieceNote(6, isLast: false)]), whole.earlier([PieceNote(1, isLast: false)]),
            whole.earlier([PieceNote(13, isLast: false)]), whole.earlier([PieceNote(.max >> 1, isLast: false)]),
            whole.earlier([notes[0], PieceNote(5, isLast: false)]), whole.earlier([PieceNote(6, isLast: true)]),
            EarlierPieces(tooMany) { whole.data[min($0, whole.data.count - 1)] },
        ]
        for earlier in bad {
            await #expect(throws: EarlierPieces.Mismatch.self) {
                _ = try await delta(base, new, .standard, goingOnAfter: earlier)
            }
        }
    }
}
