import Foundation
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Stores that are published in a folder, and followed by way of web servers.
@Suite(.serialized) struct PublishingTests {
    private static func publish(_ desk: Desk, _ store: String = "Recipes.sqlite") async throws {
        try await desk.run("send", store, "--to", "dir:public/kitchen").expectSuccess()
    }

    @Test(arguments: WebServer.Manner.allCases.filter(\.serves))
    func `what is published arrives from a server`(manner: WebServer.Manner) async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 3000)
        try await Self.publish(desk)
        let server = try WebServer(desk["public/kitchen"]) { _ in manner }
        defer { server.stop() }
        for number in 1...3 {
            try await desk.run("receive", "--into", "inbox", "--from", server.url).expectSuccess()
            #expect(try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite"))
            try desk.execute("INSERT INTO recipe(title) VALUES ('new \(number)')", in: "Recipes.sqlite")
            try await Self.publish(desk)
        }
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: WebServer.Manner.allCases.filter { !$0.serves })
    func `a server that does not serve is named, and nothing changes`(manner: WebServer.Manner) async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 300)
        try await Self.publish(desk)
        let isBad = Atomic(false)
        let server = try WebServer(desk["public/kitchen"]) { _ in isBad.load(ordering: .relaxed) ? manner : .plain }
        defer { server.stop() }
        try await desk.run("receive", "--into", "inbox", "--from", server.url).expectSuccess()
        try desk.execute("DELETE FROM recipe WHERE id < 100", in: "Recipes.sqlite")
        try await Self.publish(desk)
        try await desk.run("receive", "--into", "other", "--from", server.url).expectSuccess()
        isBad.store(true, ordering: .relaxed)
        let outcome = try await desk.run("receive", "--into", "other", "--from", server.url)
        #expect(outcome.status != .exited(0), "\(outcome.stderr)")
        #expect((1...2).contains(outcome.complaints.count), "\(outcome.stderr)")
        #expect(
            outcome.stderr.contains(server.url) || outcome.stderr.contains("127.0.0.1:\(server.port)")
                || manner == .closingEarly || manner == .cut || manner == .without, "\(outcome.stderr)")
        isBad.store(false, ordering: .relaxed)
        try await desk.run("receive", "--into", "inbox", "--from", server.url).expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite"))
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: 0..<UInt64(Soak.isOn ? 40 : 3))
    func `a follower gets to the newest, whatever a server does now and then`(seed: UInt64) async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 2000)
        try await Self.publish(desk)
        let random = Mutex(RepeatableRandom(seed: seed))
        let isOver = Atomic(false)
        let server = try WebServer(desk["public/kitchen"]) { _ in
            random.withLock { random in
                guard !isOver.load(ordering: .relaxed), Int.random(in: 0..<3, using: &random) == 0 else {
                    return .plain
                }
                return WebServer.Manner.allCases.randomElement(using: &random) ?? .plain
            }
        }
        defer { server.stop() }
        let follower = try desk.start(
            "receive", "--into", "inbox", "--from", server.url, "--follow", "--poll", "20ms", "--keep-trying",
            "--idle-timeout", "2")
        var held = 0
        for number in 1...25 {
            try desk.execute(
                "INSERT INTO recipe(title) SELECT 'new \(number) ' || id FROM recipe LIMIT \(number % 5 == 0 ? 900 : 1)",
                in: "Recipes.sqlite")
            try await Self.publish(desk)
            let found = (try? StoreContent(of: desk["inbox/Recipes.sqlite"]).tables["recipe"]?.count) ?? 0
            #expect(found >= held, "seed \(seed)")
            held = found
        }
        isOver.store(true, ordering: .relaxed)
        try await desk.arrives("Recipes", from: "Recipes.sqlite", within: 60)
        follower.signal(SIGTERM)
        #expect(try await follower.wait().status == .exited(0))
        #expect(try desk.leftovers == [])
    }

    @Test func `a poll of what has not changed is one request over the same connection`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 20)
        try await Self.publish(desk)
        let server = try WebServer(desk["public/kitchen"])
        defer { server.stop() }
        let follower = try desk.start(
            "receive", "--into", "inbox", "--from", server.url, "--follow", "--poll", "10ms")
        try await desk.waitUntil { server.log.count { $0.status == 304 } > 20 }
        follower.signal(SIGTERM)
        #expect(try await follower.wait().status == .exited(0))
        #expect(Set(server.log.map(\.connection)).count == 1)
        let polls = server.log.filter { $0.status == 304 }
        #expect(polls.allSatisfy { $0.path == "/kitchen/head" && $0.bytes < 150 })
    }

    @Test func `a sender that follows publishes each change`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 500)
        let sender = try desk.start(
            "send", "Recipes.sqlite", "--to", "dir:public/kitchen", "--follow", "--settle", "20ms")
        _ = try await sender.waitForLine(containing: "wrote Recipes")
        let follower = try desk.start(
            "receive", "--into", "inbox", "--from", "dir:public/kitchen", "--follow", "--poll", "20ms")
        for number in 1...5 {
            try desk.execute("INSERT INTO recipe(title) VALUES ('new \(number)')", in: "Recipes.sqlite")
            try await desk.arrives("Recipes", from: "Recipes.sqlite")
        }
        sender.signal(SIGTERM)
        follower.signal(SIGTERM)
        #expect(try await sender.wait().status == .exited(0))
        #expect(try await follower.wait().status == .exited(0))
        try await desk.run("publish", "--prune", "dir:public/kitchen").expectSuccess()
        #expect(try desk.leftovers == [])
    }

    @Test func `with --keep-trying the others are published while a store is missing, at the start and later`()
        async throws
    {
        let desk = try Desk()
        try desk.makeStore("Notes.sqlite")
        let place = "dir:public/kitchen"
        let sender = try desk.start(
            "send", "Recipes.sqlite", "Notes.sqlite", "--to", place, "--follow", "--settle", "20ms", "--keep-trying")
        let follower = try desk.start(
            "receive", "--into", "inbox", "--from", place, "--follow", "--poll", "20ms", "--keep-trying")
        try await desk.arrives("Notes", from: "Notes.sqlite")
        try desk.makeStore("new.sqlite")
        try await desk.shell("mv new.sqlite Recipes.sqlite").expectSuccess()
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        try await desk.shell("mv Recipes.sqlite away.sqlite").expectSuccess()
        try desk.execute("INSERT INTO recipe(title) VALUES ('new')", in: "Notes.sqlite")
        try await desk.arrives("Notes", from: "Notes.sqlite")
        // It is said each time that the store goes.
        try await desk.waitUntil {
            sender.text(.error).components(separatedBy: "there is no store at Recipes.sqlite").count == 3
        }
        sender.signal(SIGTERM)
        follower.signal(SIGTERM)
        #expect(try await sender.wait().status == .exited(0))
        #expect(try await follower.wait().status == .exited(0))
    }

    @Test func `a sender that follows signs the head anew as often as it is told`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 20)
        let sender = try desk.start(
            "send", "Recipes.sqlite", "--to", "dir:public/kitchen", "--follow", "--reissue", "1s")
        _ = try await sender.waitForLine(containing: "wrote Recipes")
        let head = URL(fileURLWithPath: desk["public/kitchen/head"].string)
        let first = try Data(contentsOf: head)
        try await desk.waitUntil { (try? Data(contentsOf: head)) != first }
        sender.signal(SIGTERM)
        #expect(try await sender.wait().status == .exited(0))
        // What takes it finds nothing new in it: a whole, its catalog, and the sender's certificate.
        #expect(try Folder.names(in: desk["public/kitchen/objects"]).count == 3)
    }

    @Test func `two publishers of one publication lose nothing`() async throws {
        let desk = try Desk()
        try desk.makeStore("Recipes.sqlite", rows: 50)
        try desk.makeStore("Notes.sqlite", rows: 70)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in ["Recipes.sqlite", "Notes.sqlite"] {
                group.addTask {
                    for number in 1...8 {
                        try desk.execute("INSERT INTO recipe(title) VALUES ('\(number)')", in: store)
                        try await Self.publish(desk, store)
                    }
                }
            }
            try await group.waitForAll()
        }
        try await desk.run("receive", "--into", "inbox", "--from", "dir:public/kitchen").expectSuccess()
        for name in ["Recipes", "Notes"] {
            #expect(try desk.hasInstalled(name, in: "inbox", from: "\(name).sqlite"))
        }
    }

    @Test func `what is halted stays as it is, and the rest goes on`() async throws {
        let desk = try Desk()
        try desk.makeStore("Recipes.sqlite", rows: 50)
        try desk.makeStore("Notes.sqlite", rows: 50)
        func publish() async throws {
            for store in ["Recipes.sqlite", "Notes.sqlite"] {
                try desk.execute("INSERT INTO recipe(title) VALUES ('new')", in: store)
                try await Self.publish(desk, store)
            }
        }
        func receive() async throws -> ChildProgram.Outcome {
            let outcome = try await desk.run("receive", "--into", "inbox", "--from", "dir:public/kitchen", "--json")
            outcome.expectSuccess()
            return outcome
        }
        try await publish()
        _ = try await receive()
        let halted = try await desk.run("publish", "--halt", "dir:public/kitchen", "Recipes", "--json")
        #expect(try halted.objects().last?["names"] as? [String] == ["Recipes"])
        try await publish()
        #expect(try await receive().objects().contains { $0["event"] as? String == "halted" })
        #expect(try !desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite"))
        #expect(try desk.hasInstalled("Notes", in: "inbox", from: "Notes.sqlite"))
        let status = try await desk.run("status", "--into", "inbox")
        #expect(status.status == .exited(0) && status.stdout.contains("halted by its publisher since"))
        let stores = try await desk.run("status", "--into", "inbox", "--json").objects()
        #expect(stores.filter { $0["haltedSince"] != nil }.map { $0["name"] as? String } == ["Recipes"])
        #expect(try await desk.run("publish", "--halt", "dir:public/kitchen", "Other").status == .exited(66))
        let resumed = try await desk.run("publish", "--resume", "dir:public/kitchen", "--json")
        #expect(try resumed.objects().last?["names"] as? [String] == [])
        #expect(resumed.stderr.contains("from now on no store is halted at dir:public/kitchen"))
        _ = try await receive()
        #expect(try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite"))
        #expect(try await !desk.run("status", "--into", "inbox").stdout.contains("halted"))
    }

    @Test func `another device goes on, and no receiver is told`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 200)
        let (old, next) = ("old", "next")
        func id(_ device: String) async throws -> String {
            let outcome = try await desk.run("identity", "--identity", device, "--quiet")
            return outcome.stdout.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        func publish(by device: String) async throws -> ChildProgram.Outcome {
            try desk.execute("INSERT INTO recipe(title) VALUES ('by \(device)')", in: "Recipes.sqlite")
            return try await desk.run("send", "Recipes.sqlite", "--to", "dir:public/kitchen", "--identity", device)
        }
        try await desk.run("trust", try await id(old), "--role", "sender", "--store", "Recipes").expectSuccess()
        try await publish(by: old).expectSuccess()
        let follower = try desk.start(
            "receive", "--into", "inbox", "--from", "dir:public/kitchen", "--follow", "--poll", "20ms", "--keep-trying")
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        let early = try await publish(by: next)
        #expect(early.status == .exited(77) && early.stderr.contains("publish --next-key"))
        try await desk.run(
            "publish", "--next-key", try await id(next), "dir:public/kitchen", "--identity", old, "--json"
        ).expectSuccess()
        let late = try await publish(by: old)
        #expect(late.status == .exited(77) && late.stderr.contains("handed dir:public/kitchen over"))
        try await publish(by: next).expectSuccess()
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        #expect(try await publish(by: old).status == .exited(77))
        try await publish(by: next).expectSuccess()
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        follower.signal(SIGTERM)
        #expect(try await follower.wait().status == .exited(0))
        #expect(try await desk.run("status", "--into", "inbox").stdout.contains(try await id(next)))
        try await desk.run("publish", "--prune", "dir:public/kitchen", "--grace", "0s", "--identity", next)
            .expectSuccess()
        // One that begins now trusts the old device alone, too.
        try await desk.run("receive", "--into", "other", "--from", "dir:public/kitchen").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "other", from: "Recipes.sqlite"))
    }

    @Test func `a publication is the same however its folder is written, and another one in another folder`()
        async throws
    {
        let desk = try Desk()
        try desk.makeStore()
        try await desk.shell("ln -s . here").expectSuccess()
        for place in [
            "dir:kitchen", "dir:./kitchen/", "dir:kitchen/../kitchen", "dir:here/kitchen", "dir:\(desk["kitchen"])",
        ] {
            // As for a head that is damaged.
            try await desk.shell("rm -f kitchen/head").expectSuccess()
            try await desk.run("send", "Recipes.sqlite", "--to", place).expectSuccess()
            try await desk.run("receive", "--into", "inbox", "--from", "dir:kitchen").expectSuccess()
        }
        try await desk.shell(
            """
            mkdir shop; cd shop
            "$SHIP" send ../Recipes.sqlite --to dir:kitchen
            cp kitchen/objects/* ../kitchen/objects; cp kitchen/head ../kitchen/head
            """
        ).expectSuccess()
        for place in ["dir:kitchen", "dir:\(desk["kitchen"])"] {
            let outcome = try await desk.run("receive", "--into", "inbox", "--from", place)
            #expect(outcome.status == .exited(77), "\(outcome.stderr)")
        }
    }

    @Test func `what is published in a folder of all users is its publisher's to remove`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try await desk.shell("mkdir public; chmod 1777 public").expectSuccess()
        try await Self.publish(desk)
        for folder in ["public/kitchen", "public/kitchen/objects"] {
            let permissions = try PlatformCalls.status(of: desk[folder]).permissions
            #expect(permissions.isDisjoint(with: [.groupWrite, .otherWrite]) && permissions.contains(.otherRead))
        }
    }

    @Test func `a publisher that was restored from a backup goes on above what it has published since`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try await Self.publish(desk)
        try await desk.shell("cp -a \"$XDG_CONFIG_HOME\" ../backup").expectSuccess()
        for number in 1...4 {
            // The last one begins with the device as it was at first.
            if number == 4 {
                try await desk.run("receive", "--into", "inbox", "--from", "dir:public/kitchen").expectSuccess()
                try await desk.shell("rm -r \"$XDG_CONFIG_HOME\"; cp -a ../backup \"$XDG_CONFIG_HOME\"").expectSuccess()
            }
            try desk.execute("INSERT INTO recipe(title) VALUES ('new \(number)')", in: "Recipes.sqlite")
            try await Self.publish(desk)
        }
        try await desk.run("receive", "--into", "inbox", "--from", "dir:public/kitchen").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite"))
    }

    @Test func `who has gone back takes what is published next, once that is let in again`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let receive = ["receive", "--into", "inbox", "--from", "dir:public/kitchen"]
        try await Self.publish(desk)
        try await desk.run(receive).expectSuccess()
        for number in 1...3 {
            try desk.execute("INSERT INTO recipe(title) VALUES ('wrong \(number)')", in: "Recipes.sqlite")
            try await Self.publish(desk)
            try await desk.run(receive).expectSuccess()
            try await desk.run("rollback", "Recipes", "--into", "inbox").expectSuccess()
            try desk.execute("INSERT INTO recipe(title) VALUES ('right \(number)')", in: "Recipes.sqlite")
            try await Self.publish(desk)
            let outcome = try await desk.run(receive)
            #expect(outcome.status == .exited(73) && outcome.stderr.contains("holds it there"), "\(outcome.stderr)")
            try await desk.run("rollback", "Recipes", "--into", "inbox", "--release").expectSuccess()
            try await desk.run(receive).expectSuccess()
            #expect(try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite"))
        }
        #expect(try desk.leftovers == [])
    }

    @Test func `a sender that follows publishes all of its stores again where the head was removed`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try desk.makeStore("Notes.sqlite")
        let sender = try desk.start(
            "send", "Recipes.sqlite", "Notes.sqlite", "--to", "dir:public/kitchen", "--follow", "--settle", "20ms")
        _ = try await sender.waitForLine(containing: "wrote Notes")
        try PlatformCalls.removeFile(desk["public/kitchen/head"])
        try desk.execute("INSERT INTO recipe(title) VALUES ('new')", in: "Recipes.sqlite")
        try await desk.waitUntil { (try? PlatformCalls.status(of: desk["public/kitchen/head"])) != nil }
        let follower = try desk.start(
            "receive", "--into", "inbox", "--from", "dir:public/kitchen", "--follow", "--poll", "20ms")
        for name in ["Recipes", "Notes"] { try await desk.arrives(name, from: "\(name).sqlite") }
        for program in [sender, follower] {
            program.signal(SIGTERM)
            #expect(try await program.wait().status == .exited(0))
        }
    }

    @Test func `publish does one thing`() async throws {
        let desk = try Desk()
        for arguments in [
            [], ["--prune", "dir:a", "--halt", "dir:a"], ["--next-key", "ID"], ["--next-key", "ID", "dir:a", "dir:b"],
            ["--prune", "dir:a", "Recipes"], ["--halt", "dir:a", "../Recipes"], ["--halt", "dir:a", "--grace", "1h"],
        ] { #expect(try await desk.run(["publish"] + arguments).status == .exited(64), "\(arguments)") }
    }

    @Test func `a folder in the place of an object is in the way`() async throws {
        let desk = try Desk()
        try desk.makeLargeStore("Recipes.sqlite", megabytes: 1)
        try await Self.publish(desk)
        try await desk.shell("cd public/kitchen/objects; for name in *; do rm $name; mkdir $name; done").expectSuccess()
        let outcome = try await desk.run("receive", "--into", "inbox", "--from", "dir:public/kitchen")
        #expect(outcome.status == .exited(74), "\(outcome.stderr)")
        #expect(outcome.complaints.last == "ship-store: hint: it is no plain file: move it away", "\(outcome.stderr)")
    }

    @Test func `places where nothing can be published, or is, are named`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let web = try await desk.run("send", "Recipes.sqlite", "--to", "https://127.0.0.1/kitchen")
        #expect(web.status == .exited(64), "\(web.stderr)")
        let cached = try await desk.run("send", "Recipes.sqlite", "--to", "dir:public/x", "--head-cache", "5s")
        #expect(cached.status == .exited(64) && cached.stderr.contains("s3://"), "\(cached.stderr)")
        let nothing = try await desk.run("receive", "--into", "inbox", "--from", "dir:nowhere")
        #expect(nothing.status == .exited(66) && nothing.stderr.contains("nothing is published at dir:nowhere"))
        try await Self.publish(desk)
        try Folder.removeTree(at: desk["public/kitchen/objects"])
        // With that, the certificate is there again, and the object is told of once, not as if a connection had been there.
        try await desk.run("publish", "--resume", "dir:public/kitchen").expectSuccess()
        let gone = try await desk.run("receive", "--into", "inbox", "--from", "dir:public/kitchen")
        #expect(gone.status == .exited(75) && !gone.stderr.contains("no longer connected"), "\(gone.stderr)")
        for url in ["ftp://host/x", "https://", "https://user@host/x", "https://host/x?y", "https://host/a b"] {
            let outcome = try await desk.run("receive", "--into", "inbox", "--from", url)
            #expect(outcome.status == .exited(64), "\(url): \(outcome.stderr)")
        }
    }
}
