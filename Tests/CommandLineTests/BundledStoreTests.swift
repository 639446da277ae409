import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A first generation that comes with an app: `copy --as`, `adopt`, `bases --add`.
@Suite struct BundledStoreTests {
    private let desk: Desk
    private let receiver = "exec:$SHIP receive --into inbox --from - -q"
    private static let base = "Recipes.base.sqlite"

    init() throws {
        desk = try Desk()
        try desk.makeStore(rows: 5000)
        // What cannot be made small by itself.
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "UPDATE recipe SET title = hex(randomblob(20))")
    }

    private func change(_ remainder: Int = 7, in desk: Desk? = nil) throws {
        try TestStore.make(
            at: (desk ?? self.desk)["Recipes.sqlite"],
            sql: "UPDATE recipe SET title = 'Bread ' || id WHERE id % 100 = \(remainder)")
    }

    /// - Returns: Bytes on the wire.
    private func send(_ options: String..., from other: Desk? = nil, to address: String? = nil) async throws -> Int {
        let outcome = try await (other ?? desk).run(
            ["send", "Recipes.sqlite", "--to", address ?? receiver, "--json", "-q"] + options
        ).expectSuccess()
        return try #require(try outcome.objects().last?["wire"] as? Int)
    }

    private func makeBase() async throws {
        try await desk.run("copy", "Recipes.sqlite", "--as", Self.base, "-q").expectSuccess()
    }

    private func adopt(_ file: String = base, _ options: String...) async throws -> ChildProgram.Outcome {
        try await desk.run(["adopt", file, "--into", "inbox"] + options)
    }

    @Test func `the first session costs what has changed, as the second one does without a bundle`() async throws {
        try await makeBase()
        let adopted = try await adopt(Self.base, "--json").expectSuccess()
        #expect(adopted.stderr.hasPrefix("adopted Recipes as generation 1: "))
        let words = try #require(try adopted.objects().last)
        #expect(words["outcome"] as? String == "adopted" && words["generation"] as? Int == 1)
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        let listed = try await desk.run("list", "--into", "inbox", "--json").objects()
        #expect(listed.map { $0["isAdopted"] as? Bool } == [true] && listed.allSatisfy { $0["counter"] == nil })
        #expect(try await desk.run("list", "--into", "inbox").stdout.contains("\n   adopted "))
        try await desk.run("verify", "inbox").expectSuccess()

        // The same without a bundle: the base is sent, and acknowledged.
        let other = try Desk()
        try PlatformCalls.makeFolder(other["made"])
        try OpenFile.copy(desk[Self.base], to: other["Recipes.sqlite"])
        let whole = try await send(from: other)
        try change()
        try change(in: other)
        let known = try await send(from: other)

        let added = try await desk.run("bases", "--add", Self.base, "Recipes.sqlite", "--json").expectSuccess()
        #expect(added.stderr.hasPrefix("added \(Self.base) as a base of Recipes: "))
        let first = try await send()
        #expect(first <= known + 400, "\(first), \(known)")
        #expect(first < whole / 20, "\(first) of \(whole)")
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        let now = try await desk.run("list", "--into", "inbox", "--json").objects()
        #expect(now.map { $0["isAdopted"] as? Bool } == [true, nil])
        #expect(try desk.leftovers == [])
    }

    @Test func `a sender without the base compares it with the receiver's`() async throws {
        try await makeBase()
        try await adopt().expectSuccess()
        try change()
        #expect(try await send() < 3000)
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `a trusted device is told of what was adopted, and is then the one that sends the store`() async throws {
        for (one, other) in [("watch", "phone"), ("phone", "watch"), ("watch", "tablet"), ("tablet", "watch")] {
            let id = try await desk.id(of: other)
            try await desk.run("trust", id, "--identity", one, "--store", "Recipes", "-q").expectSuccess()
        }
        try await makeBase()
        try await adopt().expectSuccess()
        try await desk.run("bases", "--add", Self.base, "Recipes.sqlite", "-q").expectSuccess()
        let listening = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        // Nothing has changed yet.
        #expect(try await send("--identity", "phone", to: listening.address) < 600)
        try change()
        #expect(try await send("--identity", "phone", to: listening.address) < 5000)
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        let second = try await desk.run(
            "send", "Recipes.sqlite", "--to", listening.address, "--identity", "tablet", "-q")
        #expect(second.status == .exited(77))
        try await listening.stop().expectSuccess()
    }

    @Test func `in a file too, for what the receiver says that it holds`() async throws {
        try await makeBase()
        try await desk.run("bases", "--add", Self.base, "Recipes.sqlite", "-q").expectSuccess()
        try change()
        // An older shipment than the adoption is none that goes back.
        try await desk.run("send", "Recipes.sqlite", "--to", "./whole.shipment", "-q").expectSuccess()
        try await Task.sleep(for: .seconds(1.1))
        try await adopt().expectSuccess()
        try await desk.shell("$SHIP holdings --into inbox -q > watch.holdings").expectSuccess()
        try await desk.run("send", "Recipes.sqlite", "--for", "watch.holdings", "--to", "./next.shipment", "-q")
            .expectSuccess()
        #expect(
            try PlatformCalls.status(of: desk["next.shipment"]).size * 20
                < PlatformCalls.status(of: desk["whole.shipment"]).size)
        try OpenFile.copy(desk[Self.base], to: desk["again.sqlite"])
        try await desk.run("receive", "--into", "inbox", "--from", "./whole.shipment", "-q").expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "./next.shipment", "-q").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `a bundle that nobody can write to is left alone`() async throws {
        try PlatformCalls.makeFolder(desk["App"])
        try await desk.run("copy", "Recipes.sqlite", "--to", "App", "--as", "Recipes.base.sqlite", "-q").expectSuccess()
        try await desk.shell("chmod 444 App/*; chmod 555 App").expectSuccess()
        let before = try PlatformCalls.status(of: desk["App/Recipes.base.sqlite"])
        let sum = try await desk.shell("sha256sum < App/Recipes.base.sqlite").stdout
        try await adopt("App/Recipes.base.sqlite", "--as", "Dishes").expectSuccess()
        let after = try PlatformCalls.status(of: desk["App/Recipes.base.sqlite"])
        #expect(before == after && after.links == 1)
        let installed = try PlatformCalls.statusFollowingLinks(of: desk["inbox/Dishes.sqlite"])
        #expect(installed.identity != before.identity && installed.permissions == .ownerRead)
        #expect(
            try await desk.shell("sha256sum < App/Recipes.base.sqlite; ls -A App").stdout == sum
                + "Recipes.base.sqlite\n")
        try await desk.shell("chmod 755 App").expectSuccess()
        #expect(try desk.leftovers == [])
    }

    @Test func `what is there already stays, whatever the next version of the app brings`() async throws {
        try await makeBase()
        try await adopt().expectSuccess()
        let again = try await adopt().expectSuccess()
        #expect(again.stderr == "unchanged: Recipes, generation 1\n")
        try change()
        _ = try await send()
        let hint =
            "nothing has changed, and shipments go on; `ship-store forget Recipes --into INBOX` removes what is there"
        try await adopt().expectFailure(
            73, "the inbox has Recipes already, generation 2, and only a first generation is adopted", hint: hint)
        try change(8)
        try await desk.run("copy", "Recipes.sqlite", "--as", "2.base.sqlite", "-q").expectSuccess()
        try await adopt("2.base.sqlite", "--as", "Recipes").expectFailure(
            73, "the inbox has Recipes already, generation 2, and only a first generation is adopted", hint: hint)
        #expect(try await desk.run("list", "--into", "inbox", "--json").objects().count == 2)
        try await desk.run("forget", "Recipes", "--into", "inbox", "-q").expectSuccess()
        try await adopt("2.base.sqlite", "--as", "Recipes").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `what other stores keep stays`() async throws {
        try await makeBase()
        try desk.makeStore("Tea.sqlite")
        for number in 1...5 {
            try desk.execute("INSERT INTO recipe(title) VALUES ('\(number)')", in: "Tea.sqlite")
            try await desk.run("send", "Tea.sqlite", "--to", "./\(number).shipment", "-q").expectSuccess()
            try await desk.run("receive", "--into", "inbox", "--from", "./\(number).shipment", "--keep", "5", "-q")
                .expectSuccess()
        }
        // Until then what was current a moment ago stays anyhow.
        try await Task.sleep(for: .seconds(2.1))
        #expect(try await adopt("nosuch.sqlite").status == .exited(66))
        try await adopt().expectSuccess()
        let names = try await desk.run("list", "--into", "inbox", "--json").objects().compactMap {
            $0["name"] as? String
        }
        #expect(names == ["Recipes"] + Array(repeating: "Tea", count: 5))
    }

    @Test func `what is no such copy, or is damaged, changes nothing`() async throws {
        try await makeBase()
        let size = try PlatformCalls.status(of: desk[Self.base]).size
        try await desk.shell(
            """
            for name in longer shorter torn; do cp \(Self.base) $name.sqlite; done
            printf x >> longer.sqlite
            truncate -s \(size - 5000) shorter.sqlite
            dd if=/dev/urandom of=torn.sqlite bs=4096 seek=3 count=2 conv=notrunc status=none
            echo hello > text.sqlite; mkdir folder.sqlite; : > empty.sqlite
            sqlite3 \(Self.base) .dump | sqlite3 made.sqlite
            """
        ).expectSuccess()
        for name in ["longer", "shorter", "torn", "text", "made", "folder", "Recipes"] {
            let outcome = try await adopt("\(name).sqlite")
            #expect(outcome.status == .exited(65), "\(name): \(outcome.stderr)")
            #expect(outcome.complaints.contains { $0.hasPrefix("ship-store: hint: ") } || name != "made")
            let added = try await desk.run("bases", "--add", "\(name).sqlite", "Recipes.sqlite")
            #expect(added.status == .exited(65), "\(name): \(added.stderr)")
        }
        try await adopt("made.sqlite").expectFailure(
            65,
            "\(desk["made.sqlite"]) is not in the form in which shipments go: `copy` has not made it, or it was changed since",
            hint: "make it with `ship-store copy STORE --as NAME.base.sqlite`, and leave it as it is")
        #expect(try await adopt("nosuch.sqlite").status == .exited(66))
        #expect(try await adopt(Self.base, "--as", "-").status == .exited(64))
        #expect(try await desk.run("list", "--into", "inbox").stdout == "")
        #expect(try await desk.run("bases").stdout == "")
        #expect(try !PlatformCalls.isThere(desk["inbox"]))
        #expect(try desk.leftovers == [])
    }

    @Test func `its external files come along, and what has changed of them goes`() async throws {
        let sample = try CoreDataSample(at: desk["Notes.sqlite"])
        for key in 1...3 { try sample.addPhoto(key: key, content: Data(repeating: UInt8(key), count: 30_000)) }
        try await desk.run("copy", "Notes.sqlite", "--as", "Notes.base.sqlite", "-q").expectSuccess()
        try await adopt("Notes.base.sqlite").expectSuccess()
        #expect(try await desk.run("list", "--into", "inbox", "--json").objects().first?["externalFiles"] as? Int == 3)
        try await desk.run("verify", "inbox").expectSuccess()
        try await desk.run("bases", "--add", "Notes.base.sqlite", "Notes.sqlite", "-q").expectSuccess()
        try sample.addPhoto(key: 4, content: Data(repeating: 4, count: 300))
        let outcome = try await desk.run("send", "Notes.sqlite", "--to", receiver, "--json", "-q").expectSuccess()
        #expect(try #require(try outcome.objects().last?["wire"] as? Int) < 1500)
        #expect(try desk.hasInstalled("Notes", from: "Notes.sqlite"))
        try await desk.shell("rm -r .Notes.base_SUPPORT/_EXTERNAL_DATA/*").expectSuccess()
        let missing = try await desk.run("adopt", "Notes.base.sqlite", "--into", "other")
        #expect(missing.status == .exited(65))
        #expect(try desk.leftovers == [])
    }

    @Test func `what was added stays until it is removed, and the copy that it was made of may go`() async throws {
        try await makeBase()
        try await desk.run("bases", "--add", Self.base, "Recipes.sqlite", "--name", "Dishes", "-q").expectSuccess()
        // The store lies beside it.
        for store in [[], ["Recipes.sqlite"]] {
            try await desk.run(["bases", "--add", Self.base, "-q"] + store).expectSuccess()
        }
        try await desk.shell("rm \(Self.base)").expectSuccess()
        let lines = try await desk.run("bases").lines
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains("  every receiver, pinned  ") })
        try await desk.run("bases", "--remove", "Recipes").expectSuccess()
        #expect(try await desk.run("bases").lines.count == 1)
        try await desk.run("destroy", "Recipes.sqlite", "-q").expectSuccess()
        #expect(desk.remembered == [])
    }

    @Test func `no receiver may be at work`() async throws {
        try await makeBase()
        let listening = try await desk.listen()
        #expect(try await adopt().status == .exited(75))
        try await listening.stop().expectSuccess()
        try await adopt().expectSuccess()
    }
}
