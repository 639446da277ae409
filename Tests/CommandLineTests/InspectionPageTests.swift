import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// `inspect --html`: what is in the page, and what the page may take the place of.
@Suite struct InspectionPageTests {
    private let desk: Desk
    private static let image = "</script><img src=x onerror=alert(1)>"

    init() throws { desk = try Desk() }

    /// One of all that a table may be made of, under names that would break out of a page.
    private func makeStore() throws {
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
        try TestStore.make(
            at: desk["Store.sqlite"],
            sql: """
                CREATE TABLE "\(Self.image)"(id INTEGER PRIMARY KEY, "<!--&'" TEXT, "\u{202E}gnp" REAL);
                \(rows) INSERT INTO "\(Self.image)" SELECT i * 3, 'row number ' || i * 7919 % 2003, sin(i) FROM n;
                CREATE TABLE pair(value TEXT, key INT, kind TEXT,
                                  PRIMARY KEY (key, kind)) WITHOUT ROWID;
                \(rows) INSERT INTO pair(value, kind, key) SELECT 'text ' || i * 31 % 977, 'kind ' || i % 3, i FROM n;
                CREATE TABLE note(double INT AS (length(body) * 2) VIRTUAL, body TEXT, stored INT AS (length(body)) STORED);
                \(rows) INSERT INTO note(body) SELECT printf('%x', i * 7919) FROM n;
                CREATE INDEX by_lower ON note(lower(body));
                CREATE TABLE long(bytes BLOB); INSERT INTO long VALUES (randomblob(3000000)), (x'01');
                CREATE TABLE bare(a);
                """)
    }

    private struct Area: Decodable {
        let name: String
        let cost: Int
        let rows: Int?
        let size: Int?
        let parts: [Area]?

        subscript(_ name: String) -> Area? { parts?.first { $0.name == name } }

        /// What does not add up.
        var faults: [String] {
            guard let parts else { return [] }
            let sum = parts.reduce(0) { $0 + $1.cost }
            return (sum == cost ? [] : ["\(name): \(cost), its parts \(sum)"]) + parts.flatMap(\.faults)
        }
    }

    private func page(_ name: String = "page.html") throws -> String {
        try String(decoding: Data(contentsOf: URL(fileURLWithPath: desk[name].string)), as: UTF8.self)
    }

    private func area(_ page: String) throws -> Area {
        let start = try #require(page.range(of: #"id="data">"#)).upperBound
        let end = try #require(page.range(of: "</script>", range: start..<page.endIndex)).lowerBound
        return try JSONDecoder().decode(Area.self, from: Data(page[start..<end].utf8))
    }

    // MARK: What is in it

    @Test func `all of it adds up, by table and by column`() async throws {
        try makeStore()
        let outcome = try await desk.run("inspect", "Store.sqlite", "--html", "page.html", "--json").expectSuccess()
        #expect(outcome.stderr == "wrote page.html\n")
        let root = try area(page())
        #expect(root.faults == [])
        let object = try #require(try outcome.objects().first)
        #expect(root.cost == object["cost"] as? Int && root.name == "Store")
        let tables = try #require(object["tables"] as? [[String: Any]])
        #expect(
            tables.map { $0["cost"] as? Int }
                == tables.map { root[ForeignText.escaped($0["name"] as? String ?? "")]?.cost })
        for table in tables {
            let parts = try #require(table["parts"] as? [[String: Any]])
            let sum = parts.reduce(0) { $0 + ($1["cost"] as? Int ?? 0) }
            #expect(parts.isEmpty || sum == table["cost"] as? Int, "\(table)")
            let costs = parts.compactMap { $0["cost"] as? Int }
            #expect(costs == costs.sorted(by: >))
        }
        func kinds(_ name: String) -> Set<String> {
            let parts = tables.first { $0["name"] as? String == name }?["parts"] as? [[String: Any]] ?? []
            return Set(parts.map { "\($0["kind"] ?? "") \($0["name"] ?? "")" })
        }
        // The column that is the rowid is told as such; those that are not stored are not there.
        #expect(kinds(Self.image) == ["column id", "column <!--&'", "column \u{202E}gnp"])
        #expect(kinds("pair") == ["column key", "column kind", "column value"])
        #expect(kinds("note") == ["rowids ", "column body", "column stored", "indexes "])
        #expect(kinds("long") == ["rowids ", "column bytes", "longRows "])
        #expect(kinds("bare") == [])
        #expect(kinds("sqlite_schema").isSuperset(of: ["column name", "column sql", "column rootpage"]))
        // The long row is random, and nearly all.
        let long = try #require(root["long"])
        #expect(Double(try #require(long["(long rows)"]).cost) > 0.99 * Double(long.cost))
        #expect(long.cost > 2_900_000)
        #expect(try desk.leftovers == [])
    }

    @Test func `names stand in it as data only`() async throws {
        try makeStore()
        try await desk.run("inspect", "Store.sqlite", "--html", "page.html").expectSuccess()
        let page = try page()
        #expect(!page.contains("<img") && !page.contains("<!--"))
        // Its data ends once, and its script.
        #expect(page.components(separatedBy: "</script>").count == 3)
        #expect(
            page.contains(#"\u003c/script>\u003cimg src=x onerror=alert(1)>"#) || page.contains(#"\u003c\/script>"#))
        // What would turn the reading direction is escaped as in all that is printed.
        #expect(!page.contains("\u{202E}"))
        #expect(try area(page)[Self.image]?[#"\u{202E}gnp"#] != nil)
    }

    /// A script that is not the page's own would not run, wherever it came from.
    @Test func `the page names its own script and style, and allows nothing else`() async throws {
        try desk.makeStore()
        try await desk.run("inspect", "Recipes.sqlite", "--html", "page.html").expectSuccess()
        let page = try page()
        let content = try #require(page.range(of: #"Content-Security-Policy" content=""#)).upperBound
        let policy = page[content...].prefix { $0 != "\"" }
        #expect(policy.hasPrefix("default-src 'none'; ") && !policy.contains("unsafe"))
        for (name, tag) in [("script-src", "<script>"), ("style-src", "<style>")] {
            let start = try #require(page.range(of: tag)).upperBound
            let text = page[start...].prefix(
                upTo: try #require(page.range(of: "</", range: start..<page.endIndex)).lowerBound)
            let digest = Data(ContentDigest(hashing: text.utf8).bytes).base64EncodedString()
            #expect(policy.contains("\(name) 'sha256-\(digest)'"), "\(name)")
        }
        #expect(!page.contains("http://") && !page.contains("https://"))
    }

    @Test func `it tells of shipments, of inboxes and of external files too`() async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"], journalMode: "DELETE")
        _ = try sample.addPhoto(key: 1, content: Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 * $0 >> 3) }))
        try desk.makeStore()
        for store in ["Photos", "Recipes"] {
            try await desk.run("send", "\(store).sqlite", "--to", "./\(store).shipment").expectSuccess()
            try await desk.run("receive", "--into", "inbox", "--from", "\(store).shipment").expectSuccess()
        }
        try await desk.run("inspect", "Photos.shipment", "--html", "page.html").expectSuccess()
        let shipment = try area(page())
        let files = try #require(shipment["(external files)"])
        #expect(shipment.faults == [] && files.cost > 0 && files.rows == 1 && files.size == 50_000)
        try await desk.run("inspect", "inbox", "--html", "page.html").expectSuccess()
        let inbox = try area(page())
        #expect(inbox.faults == [] && inbox.name == "all stores")
        #expect(inbox.parts?.map(\.name) == ["Photos", "Recipes"])
        #expect(inbox["Recipes"]?["recipe"]?["title"] != nil)
    }

    // MARK: What it may take the place of

    @Test func `a page is replaced, another file only with --force`() async throws {
        try desk.makeStore()
        try desk.makeStore("Other.sqlite")
        try await desk.shell("echo precious > note; : > empty; ln -s nowhere dangling; mkdir folder").expectSuccess()
        let before = try FolderListing(of: desk.path).entries
        for target in ["note", "empty", "dangling", "Other.sqlite", "folder"] {
            try await desk.run("inspect", "Recipes.sqlite", "--html", target).expectFailure(
                73, "\(target) is there already, and is no page of this program",
                hint: "name another file, or say --force to replace this one, if it is a file")
        }
        #expect(try FolderListing(of: desk.path).entries == before)
        let permissions = try PlatformCalls.status(of: desk["note"]).permissions
        try await desk.run("inspect", "Recipes.sqlite", "--html", "note", "--force").expectSuccess()
        let first = try page("note")
        #expect(first.hasPrefix("<!DOCTYPE html>\n"))
        try await desk.run("inspect", "Other.sqlite", "--html", "note").expectSuccess()
        #expect(try page("note") != first)
        #expect(try PlatformCalls.status(of: desk["note"]).permissions == permissions)
        #expect(try await desk.run("inspect", "Recipes.sqlite", "--html", "none/page.html").status == .exited(66))
        #expect(try desk.leftovers == [])
    }

    @Test func `with --force no pipe, socket or folder is replaced`() async throws {
        try desk.makeStore()
        try await desk.shell(
            """
            mkfifo pipe; ln -s pipe link; mkdir folder
            python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
            """
        ).expectSuccess()
        let before = try FolderListing(of: desk.path).entries
        for target in ["pipe", "link", "folder", "socket"] {
            try await desk.run("inspect", "Recipes.sqlite", "--html", target, "--force").expectFailure(
                73, "\(target) is there already, and is no page of this program",
                hint: "name another file, or say --force to replace this one, if it is a file")
        }
        #expect(try FolderListing(of: desk.path).entries == before)
    }

    @Test(arguments: [
        "Recipes.sqlite", "Recipes.sqlite-wal", "Recipes.sqlite-shm", "Recipes.sqlite-journal", "link", "hard",
    ])
    func `what is inspected is never hit`(target: String) async throws {
        try desk.makeStore()
        try await desk.shell("ln -s Recipes.sqlite link; ln Recipes.sqlite hard").expectSuccess()
        let app = try TestStore.open(desk["Recipes.sqlite"])
        defer { try? app.close() }
        try await app.writeWithoutTransaction { try $0.execute(sql: "CREATE TABLE more(a)") }
        let before = try FolderListing(of: desk.path).entries
        for force in [[], ["--force"]] {
            try await desk.run(["inspect", "Recipes.sqlite", "--html", target] + force).expectFailure(
                64, "\(target) belongs to what is inspected, and would be destroyed", hint: "name another file")
        }
        #expect(try FolderListing(of: desk.path).entries == before)
    }

    @Test func `nor is a shipment, nor what an inbox or a folder of kept copies holds`() async throws {
        try desk.makeStore()
        try await desk.run("send", "Recipes.sqlite", "--to", "a.shipment").expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "a.shipment").expectSuccess()
        try await desk.run("copy", "Recipes.sqlite", "--keep-in", "kept").expectSuccess()
        let copy = try #require(try Folder.names(in: desk["kept"]).first { $0.hasPrefix("Recipes-") })
        let before = try FolderListing(of: desk.path).entries
        for (subject, target) in [
            ("a.shipment", "a.shipment"), ("inbox", "inbox/Recipes.sqlite"),
            ("inbox", "inbox/.ship-store/Recipes/current/page.html"), ("Recipes.sqlite", "inbox/Recipes.sqlite"),
            ("inbox/.ship-store/Recipes/current", "inbox/.ship-store/Recipes/current/manifest.json"),
            ("Recipes.sqlite", "kept/\(copy)/manifest.json"),
        ] {
            let outcome = try await desk.run("inspect", subject, "--html", target, "--force")
            #expect(outcome.status == .exited(64), "\(target): \(outcome.stderr)")
        }
        #expect(try FolderListing(of: desk.path).entries == before)
    }

    @Test func `a command line that makes no sense is told`() async throws {
        try desk.makeStore()
        let hint = "see `ship-store inspect --help`"
        try await desk.run("inspect", "Recipes.sqlite", "--force").expectFailure(
            64, "--force is for the file of --html", hint: hint)
        try await desk.run("inspect", "Recipes.sqlite", "--html", "-").expectFailure(
            64, "--html wants a file: standard output has the tables", hint: hint)
        try await desk.run("inspect", "Recipes.sqlite", "--html", "").expectFailure(
            64, "--html wants a file", hint: hint)
    }
}
