import SystemPackage
import TestSupport
import Testing

/// A commit in WAL mode whose frames are in the log, and which its writer has not told the index of yet: it waits for the disk. When it does,
/// no time of a file changes, and nothing else tells.
@Suite struct EarlyLookTests {
    /// Holds a store in WAL mode. With the first line from standard input the frames of a commit come into its log, as the same commit has made
    /// them in a twin; with the second the program dies, and whoever comes next finds the commit.
    private static let writer = """
        import os, shutil, sqlite3, sys
        path, twin = sys.argv[1], sys.argv[2]
        def opened(path):
            database = sqlite3.connect(path, isolation_level=None)
            database.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
            return database
        database = opened(path)
        database.execute("PRAGMA journal_mode = WAL").fetchall()
        if sys.argv[3] == "after": database.execute("INSERT INTO recipe(title) VALUES ('one')")
        for ending in ("", "-wal"):
            if os.path.exists(path + ending): shutil.copy(path + ending, twin + ending)
        size = os.path.getsize(path + "-wal")
        other = opened(twin)
        other.execute("INSERT INTO recipe(title) VALUES ('two')")
        frames = open(twin + "-wal", "rb").read()
        print("held", flush=True)
        sys.stdin.readline()
        with open(path + "-wal", "r+b") as log:
            log.seek(size)
            log.write(frames[size:])
        print("written", flush=True)
        sys.stdin.readline()
        os._exit(0)
        """

    @Test(arguments: ["after", "first"])
    func `what a look could not see yet arrives, though nothing tells of it`(place: String) async throws {
        let desk = try Desk()
        try desk.makeStore()
        let arguments = ["python3", "-c", Self.writer, desk.path.appending("Recipes.sqlite").string]
        let twin = desk.path.appending("twin.sqlite").string
        let writer = try ChildProgram("/usr/bin/env", arguments + [twin, place], input: .pipe)
        _ = try await writer.waitForLine(containing: "held", on: .output)
        let receiver = try await desk.listen()
        let sender = try desk.follow("Recipes.sqlite", to: receiver.address, "--settle", "50ms")
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        await writer.write(Array("\n".utf8))
        _ = try await writer.waitForLine(containing: "written", on: .output)
        // It is looked at, and nothing is there.
        try await Task.sleep(for: .seconds(1))
        await writer.write(Array("\n".utf8))
        _ = try await writer.wait()
        try await desk.arrives("Recipes", from: "twin.sqlite", within: 10)
        try await sender.stopFollowing()
        _ = try await receiver.stop()
        #expect(try desk.leftovers == [])
    }
}
