import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Stores that would have one name at the receiver.
@Suite struct NameCollisionTests {
    private func desk() async throws -> Desk {
        let desk = try Desk()
        try await desk.shell(
            """
            for d in a b; do mkdir $d; sqlite3 $d/app.db "CREATE TABLE t(a); INSERT INTO t VALUES ('$d')"; done
            """
        ).expectSuccess()
        return desk
    }

    /// How a shipment gets there.
    static let ways = [
        "to() { $SHIP send \"$@\" --to - -q >s; }; got() { $SHIP receive --into in --from ./s -q; }",
        "to() { $SHIP send \"$@\" --to \"exec:$SHIP receive --into in --from - -q\" -q; }; got() { :; }",
    ]

    @Test(arguments: ways)
    func `another store of the same tables does not take the first one's place unasked`(way: String) async throws {
        let desk = try await desk()
        try await desk.shell("\(way); to a/app.db; got; to a/app.db; got").expectSuccess()
        let second = try await desk.shell("\(way); to b/app.db")
        #expect(second.status == .exited(64), "\(second.stderr)")
        #expect(
            second.stderr.contains("another store was sent as app before, there or into a file: "), "\(second.stderr)")
        #expect(second.stderr.contains("--name") && second.stderr.contains("--replace"), "\(second.stderr)")
        try await desk.shell(
            """
            \(way); to b/app.db --name other; got; to a/app.db; got
            [ "$(sqlite3 -readonly in/app.sqlite 'SELECT a FROM t')" = a ]
            to b/app.db --replace; got; to b/app.db; got
            [ "$(sqlite3 -readonly in/app.sqlite 'SELECT a FROM t')" = b ]
            ! to a/app.db 2>/dev/null
            """
        ).expectSuccess()
        #expect(try desk.leftovers == [])
    }

    @Test func `another receiver, and a memory that was emptied, know nothing of the first`() async throws {
        let desk = try await desk()
        try await desk.shell(
            """
            to() { $SHIP send $2 --to "exec:$SHIP receive --into $1 --from - -q" -q; }
            to in1 a/app.db; to in2 b/app.db; $SHIP bases --remove app -q; to in1 a/app.db
            $SHIP send a/app.db --to ./s -q; $SHIP destroy a/app.db -q; $SHIP send b/app.db --to ./s -q
            """
        ).expectSuccess()
    }

    /// As an app's container does with each update.
    @Test func `a store whose folder was renamed is the same one, and what is remembered of it goes with it`()
        async throws
    {
        let desk = try await desk()
        try await desk.shell(
            """
            to() { $SHIP send $1 --to "exec:$SHIP receive --into in --from - -q" -q; }
            to a/app.db; mv a c; to c/app.db
            # Copied elsewhere, and removed where it was: another file, of the same schema.
            cp -r c d; rm -r c; to d/app.db
            """
        ).expectSuccess()
        let remembered = try await desk.run("bases", "--json").objects()
        #expect(remembered.map { $0["store"] as? String } == [desk["d/app.db"].string])
    }

    @Test func `a Core Data store is known by its identity`() async throws {
        let desk = try Desk()
        try await desk.shell(
            """
            for d in a b; do mkdir $d; sqlite3 $d/app.db "
                CREATE TABLE Z_METADATA(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
                CREATE TABLE Z_PRIMARYKEY(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
                INSERT INTO Z_METADATA VALUES (1, '$d', NULL)"; done
            to() { $SHIP send $1 --to - -q >/dev/null; }
            to a/app.db; cp -r a c; to c/app.db; rm -r a; ! to b/app.db 2>/dev/null
            """
        ).expectSuccess()
    }
}
