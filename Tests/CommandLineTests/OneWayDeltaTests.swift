import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Shipments in files that say what has changed: `holdings`, `send --for`, `send --since`.
@Suite struct OneWayDeltaTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore(rows: 2000)
        // What cannot be made small by itself.
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "UPDATE recipe SET title = hex(randomblob(20))")
    }

    private func change(_ id: Int) throws {
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "UPDATE recipe SET title = 'Bread \(id)' WHERE id = \(id)")
    }

    /// - Returns: What `send --json` says in the end, and the causes for which it went whole.
    private func send(_ file: String, _ options: String...) async throws -> (end: [String: Any], causes: [String]) {
        let outcome = try await desk.run(["send", "Recipes.sqlite", "--to", "./\(file)", "--json", "-q"] + options)
        outcome.expectSuccess()
        let events = try outcome.objects()
        let causes = events.filter { $0["event"] as? String == "goes-whole" }.compactMap { $0["cause"] as? String }
        return (try #require(events.last), causes)
    }

    private func receive(_ file: String, into inbox: String = "inbox", _ options: String...) async throws
        -> ChildProgram.Outcome
    {
        try await desk.run(["receive", "--into", inbox, "--from", "./\(file)"] + options)
    }

    /// Writes `name`, a holdings file.
    private func hold(_ name: String, _ options: String...) async throws {
        try await desk.shell("$SHIP holdings --into inbox -q \(options.joined(separator: " ")) > \(name)")
            .expectSuccess()
    }

    /// The store CREATE TABLE broken(a, b), with one row and an index whose statement was changed from (a) to (b), from a time when
    /// `send` did not look for that.
    private static let unsound = """
        iVNISVANChoBAQEB8OPo9QIAAACqAb2SS0pEQQxFVyRU5VNJehniyNnLDxpBxambt3rS2iAIDnp6ITdczvn8hf98AH4acpp4Anv+5vRYcX7fg+6CC//EFWho\
        lXMRw4gpRgu0skAVyLs9QwQJesda0FIDOiGYrHrf/MSdviNdh4/jUpiMvgVYThwyOgWXdinHYKpUk9wFuJBUHGGoXvWYsJ/9RxH/eHup1xtQqzM80cUvC9ws\
        jjiUdaKxUfENyC9wG959BAAAAA4CAAAAAAAAAAAAAAAAAD99GFUFAAAAfAEBjgFTYUhjYGhQYGBhYGBkYGBgYmRiZWRiYkxiZWFkZGVgYuBgZWRkYWBjZxOX\
        lGS0L0lMyklNKsrPTs2DkEzOQa6OIa4KIY5OPq4KEDGNRB2FJE02cX5JRufMvJTUikyIODNUraefi2uEQqaCvx9MQ5ImMycjEzMnJwD7oDI4BgAAAABJYgK9\
        BgAAAABJYgK9
        """

    @Test func `a store that is not sound in the earlier shipment is not taken for the one to be sent`() async throws {
        let shipment = try #require(Data(base64Encoded: Self.unsound))
        try OpenFile.creating(desk["1.shipment"]).write(Array(shipment))
        try await desk.run("send", "Recipes.sqlite", "--to", "./2.shipment", "--since", "1.shipment").expectFailure(
            65, "in the earlier shipment 1.shipment: the store is not sound: row 1 missing from index i",
            hint: "leave --since out: a receiver that has that store refuses it too, and takes all of the new one")
    }

    @Test func `an earlier shipment that was cut off is named`() async throws {
        _ = try await send("1.shipment")
        let bytes = try OpenFile.reading(desk["1.shipment"]).read(1000, at: 0)
        try OpenFile.creating(desk["cut.shipment"]).write(bytes)
        try await desk.run("send", "Recipes.sqlite", "--to", "./2.shipment", "--since", "cut.shipment").expectFailure(
            65, "in the earlier shipment cut.shipment: the file ends early: the shipment is not whole",
            hint: "have it made anew with `ship-store send --to FILE`")
    }

    @Test func `the same file may come again after its base has gone`() async throws {
        _ = try await send("1.shipment")
        try await receive("1.shipment").expectSuccess()
        try change(1)
        _ = try await send("2.shipment", "--since", "1.shipment")
        try await receive("2.shipment", "--keep", "1").expectSuccess()
        try await desk.shell("rm -rf inbox/.ship-store/Recipes/generations/1-*").expectSuccess()
        for _ in 1...2 {
            let again = try await receive("2.shipment", "--json").expectSuccess()
            let receipt = try #require(try again.objects().last?["receipt"] as? [String: Any])
            #expect(receipt["outcome"] as? String == "unchanged" && receipt["generation"] as? Int == 2)
        }
        // Something else than what is current needs its base.
        try change(2)
        _ = try await send("3.shipment", "--since", "1.shipment")
        #expect(try await receive("3.shipment").status == .exited(72))
        #expect(try desk.leftovers == [])
    }

    private func size(_ file: String) throws -> Int64 { try PlatformCalls.status(of: desk[file]).size }

    @Test func `a holdings file makes the next file small, and so does each after it`() async throws {
        _ = try await send("1.shipment")
        try await receive("1.shipment").expectSuccess()
        try await hold("1.holdings")
        // Nobody has said before for whom it is: nothing is remembered of it.
        try change(1)
        #expect(try await send("2.shipment", "--for", "1.holdings").causes == ["notRemembered"])
        try await receive("2.shipment").expectSuccess()
        try await hold("2.holdings")
        try change(2)
        let small = try await send("3.shipment", "--for", "2.holdings")
        #expect(small.end["encoding"] as? String == "delta" && small.causes == [])
        #expect(try size("3.shipment") < size("1.shipment") / 20)
        // It is lost on its way: what the last holdings name counts, and not what was sent since.
        try change(3)
        let again = try await send("4.shipment", "--for", "2.holdings")
        #expect(again.end["encoding"] as? String == "delta")
        try await receive("4.shipment").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        try await hold("3.holdings")
        try change(4)
        #expect(try await send("5.shipment", "--for", "3.holdings").end["encoding"] as? String == "delta")
        // The other program applies it as well.
        try await desk.shell("cp -L inbox/Recipes.sqlite base.sqlite").expectSuccess()
        try await receive("5.shipment").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        let unpack = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
            .appending("Protocol").appending("unpack.py")
        try await desk.shell(
            "python3 '\(unpack)' 5.shipment --base base.sqlite --into out; cmp out/Recipes.sqlite inbox/Recipes.sqlite"
        )
        .expectSuccess()
        // Without a base there is nothing to look at; but it is not damaged.
        for command in [
            ["inspect", "5.shipment"], ["verify", "5.shipment"],
            ["send", "Recipes.sqlite", "--to", "./6.shipment", "--since", "5.shipment"],
        ] {
            let looked = try await desk.run(command)
            #expect(
                looked.status == .exited(72)
                    && looked.stderr.contains("5.shipment says what differs from another copy of Recipes"))
            #expect(looked.stdout == "")
        }
        let bare = try await desk.shell("python3 '\(unpack)' 5.shipment --into none")
        #expect(bare.status == .exited(65) && bare.stderr.contains("missing-base"))
        #expect(try desk.leftovers == [])
    }

    @Test func `a holdings file comes through a pipe too, and a rehearsal says what it saves`() async throws {
        _ = try await send("1.shipment")
        try await receive("1.shipment").expectSuccess()
        try await hold("1.holdings")
        try change(1)
        let options = "--since 1.shipment --for - --level 6"
        let rehearsed = try await desk.shell(
            "$SHIP send Recipes.sqlite --to ./none.shipment --dry-run \(options) < 1.holdings"
        ).expectSuccess()
        #expect(rehearsed.stderr.contains("would send Recipes: "))
        #expect(rehearsed.stderr.hasSuffix("to who has what it builds on; nothing was sent\n"))
        #expect(!desk.names.contains("none.shipment"))
        try await desk.shell("$SHIP send Recipes.sqlite --to ./2.shipment -q \(options) < 1.holdings").expectSuccess()
        #expect(try size("2.shipment") < size("1.shipment") / 20)
        try await receive("2.shipment").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `where hardly anything is left of the base, the file is hardly larger than a whole one`() async throws {
        _ = try await send("1.shipment")
        try await receive("1.shipment").expectSuccess()
        try await hold("1.holdings")
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "UPDATE recipe SET title = hex(randomblob(21))")
        let sent = try await send("2.shipment", "--since", "1.shipment", "--for", "1.holdings")
        #expect(sent.causes == [])
        _ = try await send("whole.shipment")
        #expect(try size("2.shipment") < size("whole.shipment") * 5 / 4)
        try await receive("2.shipment").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `an older whole shipment does as well, alone or beside a holdings file`() async throws {
        _ = try await send("1.shipment")
        try await receive("1.shipment").expectSuccess()
        try change(1)
        let since = try await send("2.shipment", "--since", "1.shipment", "--no-remember")
        #expect(since.end["encoding"] as? String == "delta" && since.causes == [])
        #expect(try size("2.shipment") < size("1.shipment") / 20)
        try await hold("1.holdings")
        #expect(
            try await send("3.shipment", "--since", "1.shipment", "--for", "1.holdings", "--no-remember")
                .end["encoding"] as? String == "delta")
        try await receive("2.shipment").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        // By then another one is current, and the older one does not say what has changed since that.
        try await hold("2.holdings")
        let other = try await send("4.shipment", "--since", "1.shipment", "--for", "2.holdings", "--no-remember")
        #expect(other.causes == ["notRemembered"] && other.end["encoding"] as? String == "columns")
        #expect(try await send("5.shipment", "--since", "1.shipment", "--name", "Tea").causes == ["notInShipment"])
        try await receive("5.shipment").expectSuccess()
        #expect(try desk.hasInstalled("Tea", from: "Recipes.sqlite"))
        #expect(try desk.leftovers == [])
    }

    @Test func `a receiver without the base refuses, and says which one and what to type`() async throws {
        _ = try await send("1.shipment")
        try await receive("1.shipment").expectSuccess()
        let digest = try #require(try await desk.run("list", "--into", "inbox", "--json").objects().first?["sha256"])
        try change(1)
        _ = try await send("2.shipment", "--since", "1.shipment")
        let refused = try await receive("2.shipment", into: "other")
        #expect(refused.status == .exited(72))
        #expect(refused.stderr.contains("\(digest)") && refused.stderr.contains("ship-store holdings --into INBOX"))
        #expect(try await desk.run("list", "--into", "other").stdout == "")
        // What came before from a device of its own is not from this sender.
        try await desk.run("identity", "-q").expectSuccess()
        _ = try await send("3.shipment")
        try await receive("3.shipment", into: "signed").expectSuccess()
        #expect(try await send("4.shipment", "--since", "1.shipment").causes == ["otherSender"])
        #expect(try await receive("2.shipment", into: "signed").status != .exited(0))
        #expect(try desk.leftovers == [])
    }

    @Test func `of a signed shipment the base comes from its signer`() async throws {
        let id = try #require(try await desk.run("identity", "--json").objects().first?["id"] as? String)
        _ = try await send("1.shipment")
        try await receive("1.shipment").expectSuccess()
        try await hold("nobody.holdings")
        try await hold("1.holdings", "--for", id)
        let nobody = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(fileURLWithPath: desk["nobody.holdings"].string)))
        #expect(((nobody as? [String: Any])?["holds"] as? [Any])?.isEmpty == true)
        try change(1)
        #expect(try await send("2.shipment", "--for", "nobody.holdings").causes == ["otherSender"])
        let signed = try await send("2.shipment", "--since", "1.shipment", "--for", "1.holdings")
        #expect(signed.end["encoding"] as? String == "delta" && signed.causes == [])
        try await receive("2.shipment").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `a forged holdings file costs bytes or a refusal`() async throws {
        _ = try await send("1.shipment")
        try await receive("1.shipment").expectSuccess()
        try await hold("1.holdings")
        try change(1)
        for (edit, causes) in [
            (#"s/"store":"[0-9a-f]*"/"store":"'$(printf %064d 0)'"/"#, ["notRemembered"]),
            (#"s/"name":"Recipes"/"name":"Tea"/"#, ["notHeld"]),
            (#"s/{"createdAt"/{"for":"'$(printf %064d 0)'","createdAt"/"#, ["otherSender"]),
        ] {
            try await desk.shell("sed '\(edit)' 1.holdings > forged; ! cmp -s forged 1.holdings").expectSuccess()
            let sent = try await send("forged.shipment", "--since", "1.shipment", "--for", "forged")
            #expect(sent.causes == causes && sent.end["encoding"] as? String == "columns")
        }
        for content in ["", "{}", "[1]", #"{"software":"x"}"#] {
            try await desk.shell("printf '%s' '\(content)' > bad").expectSuccess()
            let bad = try await desk.run("send", "Recipes.sqlite", "--to", "./bad.shipment", "--for", "bad")
            #expect(bad.status == .exited(65), "\(content) \(bad.stderr)")
        }
        try await desk.shell("head -c 300000 /dev/zero > bad").expectSuccess()
        #expect(
            try await desk.run("send", "Recipes.sqlite", "--to", "./bad.shipment", "--for", "bad").status == .exited(65)
        )
        #expect(
            try await desk.run("send", "Recipes.sqlite", "--to", "./bad.shipment", "--for", "none").status
                == .exited(66))
        #expect(
            try await desk.run("send", "Recipes.sqlite", "--to", "watch:1", "--for", "1.holdings").status == .exited(64)
        )
        #expect(!desk.names.contains("bad.shipment"))
    }

    @Test func `what a holdings file names stays until its time`() async throws {
        _ = try await send("1.shipment")
        try await receive("1.shipment").expectSuccess()
        try await hold("1.holdings", "--hold", "1h")
        for id in 1...3 {
            try change(id)
            _ = try await send("\(id + 1).shipment")
            try await receive("\(id + 1).shipment", into: "inbox", "--keep", "1").expectSuccess()
        }
        try await desk.run("prune", "--into", "inbox", "--keep", "1").expectSuccess()
        let listed = try await desk.run("list", "--into", "inbox", "--json").objects()
        #expect(listed.map { $0["generation"] as? Int } == [1, 4])
        #expect(listed.map { $0["leasedUntil"] is String } == [true, false])
        #expect(try await desk.run("list", "--into", "inbox").stdout.contains("held until 20"))
        // A delta against it still comes in.
        try change(9)
        _ = try await send("9.shipment", "--since", "1.shipment", "--for", "1.holdings")
        try await receive("9.shipment").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        // Another one is named in its place; and that one's time is over at once.
        try await hold("2.holdings", "--hold", "0s")
        try await desk.run("prune", "--into", "inbox", "--keep", "1").expectSuccess()
        #expect(try await desk.run("list", "--into", "inbox", "--json").objects().count == 1)
        #expect(
            !(try Folder.names(in: desk["inbox"].appending(".ship-store").appending("Recipes")).contains("leased.json"))
        )
        let late = try await desk.run("send", "Recipes.sqlite", "--to", "./late.shipment", "--for", "2.holdings")
        #expect(late.status == .exited(0))
        #expect(late.stderr.contains("may be gone since"))
    }
}

extension Desk {
    fileprivate var names: [String] { (try? Folder.names(in: path)) ?? [] }
}
