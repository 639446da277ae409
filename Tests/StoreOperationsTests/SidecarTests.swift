import Foundation
import GRDB
import StoreFiles
import StoreOperations
import SystemPackage
import TestSupport
import Testing

@Suite struct SidecarTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// Exit status 0 if another process could not take the lock of a reader [sqlite.org/walformat.html section 2.3.1]: then this
    /// one holds it.
    private static let look = """
        import fcntl, sys
        index = open(sys.argv[1], 'r+b')
        try:
            fcntl.lockf(index, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 123)
        except OSError:
            sys.exit(0)
        sys.exit(1)
        """

    @Test func `a look at the sidecars drops no lock of this process`() async throws {
        let path = scratch.path.appending("Recipes.sqlite")
        try TestStore.make(at: path, sql: "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let reader = try TestStore.open(path)
        try await reader.writeWithoutTransaction { database in
            try database.execute(sql: "INSERT INTO t VALUES (2); BEGIN")
            _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM t")
        }
        func isHeld() async throws -> Bool {
            let outcome = try await ChildProgram("/usr/bin/env", ["python3", "-c", Self.look, "\(path)-shm"]).wait()
            return outcome.status == .exited(0)
        }
        try #require(try await isHeld())
        _ = try LiveConnection(to: path, BusyHandler(busyTimeout: .seconds(1)))
        #expect(try await isHeld())
        try reader.close()
    }
}
