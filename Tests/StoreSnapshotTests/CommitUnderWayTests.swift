import SystemPackage
import TestSupport
import Testing

@testable import StoreSnapshot

/// Frames in a log that the log's index does not know.
@Suite struct CommitUnderWayTests {
    /// Holds a store with frames that a twin's commit has made, changed by the last argument.
    private static let holder = """
        import os, shutil, sqlite3, sys
        path, twin, kind, before = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
        def opened(path):
            database = sqlite3.connect(path, isolation_level=None)
            database.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
            return database
        database = opened(path)
        database.execute("PRAGMA journal_mode = WAL").fetchall()
        database.execute("CREATE TABLE t (a)")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        for row in range(before): database.execute("INSERT INTO t VALUES (?)", (row,))
        if kind == "anew": database.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
        for ending in ("", "-wal"):
            if os.path.exists(path + ending): shutil.copy(path + ending, twin + ending)
        size = os.path.getsize(path + "-wal")
        opened(twin).execute("INSERT INTO t VALUES (zeroblob(20000))")
        frames = bytearray(open(twin + "-wal", "rb").read()[size:])
        frame = 24 + database.execute("PRAGMA page_size").fetchone()[0]
        if kind == "torn": frames[-frame - 1] ^= 1
        if kind == "salted": frames[-frame + 8] ^= 1
        if kind == "open": del frames[-frame:]
        if kind in ("nothing", "anew"): frames = b""
        with open(path + "-wal", "r+b") as log:
            log.seek(size)
            log.write(frames)
        print("held", flush=True)
        sys.stdin.readline()
        os._exit(0)
        """

    @Test(arguments: ["whole", "torn", "salted", "open", "nothing", "anew"], [0, 1, 5])
    func `only a commit that is whole counts`(kind: String, before: Int) async throws {
        let scratch = try ScratchFolder()
        let (path, twin) = (scratch.path.appending("store"), scratch.path.appending("twin"))
        let words = ["python3", "-c", Self.holder, path.string, twin.string, kind, "\(before)"]
        let holder = try ChildProgram("/usr/bin/env", words, input: .pipe)
        _ = try await holder.waitForLine(containing: "held", on: .output)
        #expect(try await SourceStore(at: path).hasCommitUnderWay() == (kind == "whole"))
        await holder.write(Array("\n".utf8))
        _ = try await holder.wait()
    }
}
