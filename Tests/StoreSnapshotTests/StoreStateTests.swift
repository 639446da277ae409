import Foundation
import GRDB
import ShipProtocol
import SystemPackage
import TestSupport
import Testing

@testable import StoreFiles
@testable import StoreSnapshot

/// A state that is equal to another one says that a copy would have the same bytes; whatever another process does to the store
/// makes it another one.
@Suite struct StoreStateTests {
    private let scratch: ScratchFolder
    private let path: FilePath
    private let temporary: FilePath

    init() throws {
        scratch = try ScratchFolder()
        path = try scratch.folder("app").appending("store.sqlite")
        temporary = try scratch.folder("temporary")
    }

    static let modes = ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF", "WAL"]

    /// Runs lines of Python in a process of its own: `db` is a connection to the store, `path` its path.
    private func inAnotherProcess(_ lines: String, ending: ChildProgram.Ending = .exited(0)) async throws {
        let program = """
            import os, shutil, sqlite3, sys
            path = sys.argv[1]
            def connect(): return sqlite3.connect(path, isolation_level=None, timeout=20)
            db = connect()
            def run(*statements):
                for each in statements: db.execute(each).fetchall()
            """
        let outcome = try await ChildProgram("/usr/bin/env", ["python3", "-c", program + "\n" + lines, path.string])
            .wait()
        try #require(outcome.status == ending, "\(outcome.stderr)")
    }

    private func make(_ mode: String, rows: Int = 500) async throws {
        try await inAnotherProcess(
            """
            run("PRAGMA journal_mode = \(mode)", "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB)",
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows)) "
                "INSERT INTO t SELECT i, 'row ' || i, zeroblob(200) FROM n", "CREATE INDEX t_a ON t(a)")
            """)
        try await settle()
    }

    /// Until what has been written is older than a step of the clock.
    private func settle() async throws { try await Task.sleep(for: .milliseconds(40)) }

    private func state() async throws -> StoreState? { try await SourceStore(at: path).state() }

    private func copy(_ profile: CopyProfile = CopyProfile()) async throws -> (state: StoreState?, sha: ContentDigest) {
        let copy = try await SourceStore(at: path).compactCopy(in: temporary, profile)
        return (copy.state, copy.facts.sha256)
    }

    @Test(arguments: modes, [true, false])
    func `a store to which nobody writes stays in the state of its copy`(mode: String, isOpen: Bool) async throws {
        try await make(mode)
        let app = try TestStore.open(path)
        try await app.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA journal_mode = \(mode); UPDATE t SET a = 'new' WHERE id = 7")
        }
        if !isOpen { try app.close() }
        try await settle()
        let copied = try #require(try await copy().state)
        #expect(try await state() == copied)
        // Readers change nothing, and neither does a copy of another kind.
        let reader = try TestStore.open(path)
        _ = try await reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        var profile = CopyProfile()
        profile.emptiedTables = ["t"]
        #expect(try await copy(profile).state == copied)
        // It outlives this process.
        let kept = try JSONDecoder().decode(StoreState.self, from: JSONEncoder().encode(copied))
        #expect(try await state() == kept)
        try reader.close()
        if isOpen { try app.close() }
    }

    /// By what a store is changed; each leaves its size as it was, where it can.
    static let changes = [
        "a value": "run(\"UPDATE t SET a = 'XOW 7' WHERE id = 7\")",
        "a value, and back": "run(\"UPDATE t SET a = 'x' WHERE id = 7\", \"UPDATE t SET a = 'row 7' WHERE id = 7\")",
        "a row more": "run(\"INSERT INTO t(a) VALUES ('more')\")",
        "user_version": "run(\"PRAGMA user_version = 9\")",
        "the schema": "run(\"CREATE VIEW v AS SELECT a FROM t\")",
        "vacuumed": "run(\"DELETE FROM t WHERE id % 2\", \"VACUUM\")",
        "in an exclusive mode": """
        run("PRAGMA locking_mode = EXCLUSIVE", "UPDATE t SET a = 'one' WHERE id = 1", "UPDATE t SET a = 'two' WHERE id = 1")
        """,
        "and moved from the log": """
        run("UPDATE t SET a = 'XOW 8' WHERE id = 8", "PRAGMA wal_checkpoint(TRUNCATE)")
        """,
    ]

    /// It is broken from then on.
    @Test func `a writer without a journal that is killed amid a transaction is seen`() async throws {
        try await make("OFF")
        let before = try #require(try await copy().state)
        try await inAnotherProcess(
            """
            run("PRAGMA journal_mode = OFF", "PRAGMA cache_size = 2", "BEGIN", "UPDATE t SET b = randomblob(200)")
            os.kill(os.getpid(), 9)
            """, ending: .signalled(9))
        try await settle()
        #expect(try await state() != before)
    }

    @Test(arguments: Soak.isOn ? modes : ["DELETE", "OFF", "WAL"], changes.keys.sorted())
    func `whatever another process writes is seen`(mode: String, change: String) async throws {
        try await make(mode)
        // The log, and its index, stay then.
        let app = mode == "WAL" && !change.contains("exclusive") ? try TestStore.open(path) : nil
        if let app { _ = try await app.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } }
        let before = try #require(try await copy().state)
        #expect(try await state() == before)
        try await inAnotherProcess(try #require(Self.changes[change]))
        try await settle()
        #expect(try await state() != before)
        try app?.close()
    }

    @Test(arguments: ["DELETE", "WAL"], ["in place", "by renaming"])
    func `an old file that is put back is seen, whatever it counts`(mode: String, way: String) async throws {
        try await make(mode)
        let kept = scratch.path.appending("kept.sqlite")
        let put =
            way == "in place"
            ? "open(path, 'r+b').write(open('\(kept)', 'rb').read())"
            : "shutil.copy2('\(kept)', path + '.new'); os.rename(path + '.new', path)"
        try await inAnotherProcess("db.close(); shutil.copy2(path, '\(kept)')")
        try await inAnotherProcess("run(\"UPDATE t SET a = 'this' WHERE id = 7\")")
        try await settle()
        let (before, sha) = try await copy()
        try #require(before != nil)
        // As many commits, as many bytes, and the same time.
        try await inAnotherProcess(
            """
            status = os.stat(path)
            db.close(); \(put)
            db = connect(); run("UPDATE t SET a = 'that' WHERE id = 7"); db.close()
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            assert os.stat(path).st_size == status.st_size and os.stat(path).st_mtime_ns == status.st_mtime_ns
            """)
        try await settle()
        let now = try await state()
        #expect(now != nil && now != before)
        #expect(try await copy().sha != sha)
    }

    @Test func `a log that begins anew with as many frames is seen`() async throws {
        try await make("WAL")
        let app = try TestStore.open(path)
        try await app.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0; UPDATE t SET a = 'row A' WHERE id = 7")
        }
        try await settle()
        let (before, _) = try await copy()
        try #require(before != nil)
        try await app.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA wal_checkpoint(RESTART); UPDATE t SET a = 'row B' WHERE id = 7")
        }
        try await settle()
        let now = try await state()
        #expect(now != nil && now != before)
        // What does not change a row does no harm.
        try app.close()
        try await settle()
        #expect(try await state() != nil)
    }

    /// A commit while the copy is made is none of the copy's state; nor is one between the look and the copy.
    @Test(arguments: [true, false])
    func `a commit while a copy is made leaves it without a state`(isBefore: Bool) async throws {
        try await make("WAL")
        let app = try TestStore.open(path)
        try await app.writeWithoutTransaction { try $0.execute(sql: "UPDATE t SET a = 'a' WHERE id = 1") }
        try await settle()
        let turn = SnapshotTurn { _, begin in
            func commit() throws {
                try app.writeWithoutTransaction { try $0.execute(sql: "UPDATE t SET a = 'b' WHERE id = 1") }
            }
            if isBefore { try commit() }
            _ = try begin()
            if !isBefore { try commit() }
        }
        let copy = try await SourceStore(at: path).compactCopy(in: temporary, turn: turn)
        #expect(copy.state == nil)
        try app.close()
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `where somebody keeps everybody out there is none, soon`(mode: String) async throws {
        try await make(mode)
        let app = try TestStore.open(path)
        try await app.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; UPDATE t SET a = 'mine' WHERE id = 1")
        }
        try await settle()
        let start = ContinuousClock.now
        #expect(try await state() == nil)
        #expect(.now - start < .seconds(3))
        try app.close()
        try await settle()
        #expect(try await state() != nil)
    }

    @Test func `where a transaction was cut off there is none`() async throws {
        try await make("DELETE")
        try await inAnotherProcess(
            """
            run("PRAGMA cache_size = 2", "BEGIN", "UPDATE t SET b = randomblob(200)")
            os.kill(os.getpid(), 9)
            """, ending: .signalled(9))
        #expect(FileManager.default.fileExists(atPath: path.string + "-journal"))
        try await settle()
        #expect(try await state() == nil)
    }

    @Test func `a store that is read without locks, or through another connection, has none`() async throws {
        try await make("DELETE")
        let held = try TestStore.open(path)
        #expect(try await SourceStore(at: path, through: held).state() == nil)
        try held.close()
    }

    @Test func `a file that has just been written is not settled`() {
        func status(_ modified: Duration, changed: Duration = .zero) -> FileStatus {
            FileStatus(
                kind: .file, size: 3, permissions: .ownerReadWrite, links: 1, device: 1, inode: 2, owner: 0, group: 0,
                modified: modified, changed: changed)
        }
        let now = Duration.seconds(1_000_000)
        #expect(!status(now - .milliseconds(5)).isSettled(at: now))
        #expect(status(now - .milliseconds(50)).isSettled(at: now))
        #expect(!status(now - .milliseconds(50), changed: now).isSettled(at: now))
        // A clock that has been set back says nothing, nor does one of whole seconds about the last two.
        #expect(!status(now + .milliseconds(50)).isSettled(at: now))
        #expect(!status(now - .seconds(1)).isSettled(at: now))
        #expect(status(now - .seconds(3)).isSettled(at: now))
    }

    @Test func `a store with external files has none, as these can change unseen`() async throws {
        let sample = try CoreDataSample(at: path)
        let uuid = try sample.addPhoto(key: 1, content: Data(repeating: 1, count: 5000))
        try await settle()
        #expect(try await copy().state == nil)
        #expect(try await state() == nil)
        try PlatformCalls.removeFile(sample.file("_EXTERNAL_DATA", uuid))
        try await settle()
        #expect(try await state() != nil)
    }

    /// Another process does anything at any moment: two copies whose states are equal have the same bytes.
    @Test func `equal states are those of equal copies`() async throws {
        try await make("DELETE", rows: 50)
        let app = try ChildProgram(
            "/usr/bin/env", ["python3", "-c", Self.anything, path.string, "7"], input: .pipe)
        _ = try await app.waitForLine(containing: "at work", on: .output)
        var last: (state: StoreState, sha: ContentDigest)?
        var (same, others) = (0, 0)
        let end = ContinuousClock.now + .seconds(Soak.isOn ? 120 : 8)
        while .now < end {
            guard let taken = try? await copy(), let state = taken.state else {
                others += 1
                continue
            }
            if let last, last.state == state {
                same += 1
                #expect(last.sha == taken.sha)
            } else {
                others += 1
            }
            last = (state, taken.sha)
            if Bool.random() { try await Task.sleep(for: .milliseconds(Int.random(in: 0...60))) }
        }
        app.closeInput()
        try #require(try await app.wait().status == .exited(0))
        #expect(same > 0 && others > 0, "\(same) the same, \(others) not")
    }

    /// Commits, changes of mode, checkpoints, restored files, and pauses.
    private static let anything = """
        import os, random, shutil, sqlite3, sys, threading, time
        path, random = sys.argv[1], random.Random(int(sys.argv[2]))
        kept = path + ".kept"
        over = threading.Event()
        threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
        db = None
        def commit(): db.execute("UPDATE t SET a = ? WHERE id = ?", (str(random.random())[:6], random.randint(1, 50)))
        def mode(): db.execute("PRAGMA journal_mode = " + random.choice(["DELETE", "PERSIST", "MEMORY", "OFF", "WAL"])).fetchall()
        def checkpoint(): db.execute("PRAGMA wal_checkpoint(" + random.choice(["PASSIVE", "TRUNCATE", "RESTART"]) + ")").fetchall()
        def abandon():
            db.execute("BEGIN"); commit(); db.execute("ROLLBACK" if random.random() < 0.7 else "COMMIT")
        def reopen(): pass
        def restore():
            global db
            db.execute("PRAGMA journal_mode = DELETE").fetchall(); db.close()
            if not os.path.exists(kept) or random.random() < 0.3: shutil.copy2(path, kept)
            else: shutil.copy2(kept, path + ".new"); os.rename(path + ".new", path)
            db = None
        print("at work", flush=True)
        while not over.is_set():
            try:
                if db is None or random.random() < 0.1:
                    if db: db.close()
                    db = sqlite3.connect(path, isolation_level=None, timeout=5)
                random.choice([commit] * 6 + [mode, checkpoint, checkpoint, abandon, restore])()
            except sqlite3.OperationalError: pass
            time.sleep(random.choice([0, 0.001, 0.01, 0.1, 0.3]))
        """
}
