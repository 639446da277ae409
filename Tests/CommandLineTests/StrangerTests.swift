import StoreFiles
import TestSupport
import Testing

/// An inbox in which somebody else has been, or the disk: the rest of it goes on.
@Suite struct StrangerTests {
    @Test func `a stray file in the depot is passed over with a word`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try await desk.shell(
            """
            ship() { $SHIP send Recipes.sqlite --to - -q | $SHIP receive --into in --from - -q; }
            ship; touch in/.ship-store/Thumbs.db in/.ship-store/desktop.ini 'in/.ship-store/a b'; ln -s nowhere in/.ship-store/link
            sqlite3 Recipes.sqlite "INSERT INTO recipe(title) VALUES ('new')"; ship
            $SHIP verify in -q; $SHIP inspect in -q >/dev/null; $SHIP prune --into in --keep 1 -q
            $SHIP holdings --into in -q >/dev/null; $SHIP rollback Recipes --into in -q 2>/dev/null || true
            """
        ).expectSuccess()
        let list = try await desk.run("list", "--into", "in", "--json")
        #expect(list.status == .exited(0))
        #expect(try list.objects().map { $0["name"] as? String } == ["Recipes"])
        #expect(
            list.complaints.count == 4
                && list.complaints.allSatisfy { $0.hasSuffix("is not the inbox's own, and is passed over") })
    }

    @Test func `a damaged manifest of an old generation is told, and the others are listed`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try await desk.shell(
            """
            ship() { $SHIP send Recipes.sqlite --to - -q | $SHIP receive --into in --from - -q; }
            ship; sqlite3 Recipes.sqlite "INSERT INTO recipe(title) VALUES ('new')"; ship
            for f in in/.ship-store/Recipes/generations/1-*/manifest.json; do chmod u+w "$f"; echo nonsense > "$f"; done
            """
        ).expectSuccess()
        let list = try await desk.run("list", "--into", "in", "--json")
        let objects = try list.objects()
        #expect(objects.map { $0["generation"] as? Int } == [2, nil])
        #expect(objects.last?["error"] as? String != nil && list.complaints.count == 1)
        #expect(list.complaints.first?.contains("/generations/1-") == true, "\(list.stderr)")
    }

    @Test func `an old shipment that arrives late does not take the store back unasked`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try await desk.shell(
            """
            $SHIP send Recipes.sqlite --to ./old.shipment -q; sleep 1.1
            sqlite3 Recipes.sqlite "INSERT INTO recipe(title) VALUES ('new')"; $SHIP send Recipes.sqlite --to ./new.shipment -q
            $SHIP receive --into in --from ./new.shipment -q
            """
        ).expectSuccess()
        for options in [[], ["--unsigned"]] {
            let late = try await desk.run(["receive", "--into", "in", "--from", "./old.shipment"] + options)
            #expect(late.status == .exited(77), "\(late.stderr)")
            #expect(
                late.stderr.contains("is an old one") && late.stderr.contains("--replace Recipes"), "\(late.stderr)")
        }
        #expect(try desk.hasInstalled("Recipes", in: "in", from: "Recipes.sqlite"))
        try await desk.shell(
            """
            $SHIP receive --into in --from ./new.shipment -q
            $SHIP receive --into in --from ./old.shipment --replace Recipes -q
            $SHIP receive --into in --from ./new.shipment -q
            """
        ).expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "in", from: "Recipes.sqlite"))
    }
}
