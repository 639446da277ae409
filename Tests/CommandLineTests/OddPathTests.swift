import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Paths with everything that a file's name can hold.
@Suite struct OddPathTests {
    /// A file's name, and the store's name that it suggests.
    static let names = [
        ("my recipes.sqlite", "my_20recipes"), ("it's \"new\".sqlite", "it_27s_20_22new_22"),
        ("100%25.sqlite", "100_2525"),
        ("a?b#c.sqlite", "a_3Fb_23c"), ("new\nline.sqlite", "new_0Aline"), (".hidden.sqlite", "_2Ehidden"),
        ("-x.sqlite", "_2Dx"), ("no extension", "no_20extension"), ("a.b.c", "a.b"), ("Zürich.sqlite", "Z_C3_BCrich"),
        ("file:a.sqlite", "file_3Aa"), ("back\\slash.sqlite", "back_5Cslash"),
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
        #expect(names == ["_E6_9D_B1_E4_BA_AC", "_F0_9F_9A_A2"])
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
        #expect(try desk.hasInstalled("_2Dx", in: "-in", from: "-x.sqlite"))
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
