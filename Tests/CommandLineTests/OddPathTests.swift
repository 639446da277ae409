import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Paths with everything that a file's name can hold.
@Suite struct OddPathTests {
    /// A file's name, and the store's name that it suggests.
    static let names = [
        ("my recipes.sqlite", "my_recipes"), ("it's \"new\".sqlite", "it_s__new_"), ("100%25.sqlite", "100_25"),
        ("a?b#c.sqlite", "a_b_c"), ("new\nline.sqlite", "new_line"), (".hidden.sqlite", "hidden"),
        ("-x.sqlite", "x"), ("no extension", "no_extension"), ("a.b.c", "a.b"), ("Zürich.sqlite", "Z_rich"),
        ("file:a.sqlite", "file_a"), ("back\\slash.sqlite", "back_slash"),
    ]

    @Test(arguments: names)
    func `a store ships under the name that its file suggests`(file: String, name: String) async throws {
        let desk = try Desk()
        try TestStore.make(
            at: desk.path.appending(FilePath.Component(file) ?? "x"),
            sql: "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        try await desk.run("send", "--to", "./out \(file)", "--", file).expectSuccess()
        try await desk.run("receive", "--into", "in \(file)", "--from", "./out \(file)").expectSuccess()
        try await desk.run("verify", "in \(file)").expectSuccess()
        try await desk.run("verify", "./\(file)").expectSuccess()
        try await desk.run("copy", "./\(file)", "--to", "copies \(file)").expectSuccess()
        let list = try await desk.run("list", "--into", "in \(file)", "--json").objects()
        #expect(list.map { $0["name"] as? String } == [name])
        #expect(try desk.leftovers == [])
    }

    @Test func `a name of no letter that a store's name may have`() async throws {
        let desk = try Desk()
        for file in ["東京.sqlite", "🚢.sqlite"] {
            try desk.makeStore(file)
            try await desk.shell("$SHIP send \(file) --to - | $SHIP receive --into inbox --from -").expectSuccess()
        }
        let names = try await desk.run("list", "--into", "inbox", "--json").objects().map {
            $0["name"] as? String ?? ""
        }
        #expect(names.count == 2 && Set(names).count == 2 && names.allSatisfy { $0.hasPrefix("store_") })
    }

    @Test func `a leading dash, either way`() async throws {
        let desk = try Desk()
        try desk.makeStore("-x.sqlite")
        try await desk.shell(
            """
            $SHIP send ./-x.sqlite --to - | $SHIP receive --into ./-in --from -
            $SHIP send --to - -- -x.sqlite | $SHIP receive --into ./-in --from -
            $SHIP list --into ./-in
            """
        ).expectSuccess()
        #expect(try desk.hasInstalled("x", in: "-in", from: "-x.sqlite"))
    }

    @Test func `a symbolic link lends its name`() async throws {
        let desk = try Desk()
        try desk.makeStore("data.db")
        try await desk.shell(
            "ln -s data.db Recipes.sqlite; $SHIP send Recipes.sqlite --to - | $SHIP receive --into inbox --from -"
        ).expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "data.db"))
    }
}
