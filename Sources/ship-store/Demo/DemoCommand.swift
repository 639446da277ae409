import ArgumentParser
import GRDB
import ShipStore
import SystemPackage

/// The whole story on one machine: a writer, a sender, a receiver and readers.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show the whole story on this machine, in a temporary folder, in seconds.",
        discussion: """
            A store that is written to all the time is shipped to a receiver over loopback, changed, and shipped \
            again while a reader holds the first generation. Nothing is left behind.

              ship-store demo
            """)

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        try await output.console.run {
            do {
                try await tell()
            } catch let failure as Failed {
                throw failure
            } catch {
                throw ShipmentError(error)
            }
        }
    }

    /// Tells of a step, in words.
    private func say(_ text: String) {
        output.console.say("\(text)")
        if output.json { Output.write(.event("step", ["text": text])) }
    }

    private func tell() async throws {
        let start = ContinuousClock.now
        let path = try await play()
        guard (try? Folder.names(in: path)) == nil else { throw Self.Failed(what: "cleaning up") }
        say("done in \(Figures.duration(.now - start)); \(path) is gone, nothing is left behind")
    }

    /// - Returns: The folder of the demo. It is gone when this returns.
    private func play() async throws -> FilePath {
        let folder = try TemporaryFolder()
        let store = DemoStore(path: folder.path.appending("Recipes.sqlite"))
        let inbox = Inbox(at: folder.path.appending("inbox"))
        try store.make()
        say("made a store with \(DemoStore.recipes) recipes in WAL mode: \(store.path)")
        try await Self.withReceiver(into: inbox.root) { address in
            say("receive: listens on \(address)")
            do {
                async let _ = store.transfer()
                say("a writer moves money between its \(DemoStore.accounts) accounts all the time")
                try await breakOff(store, to: address)
                try await ship(store, to: address)
                let first = try await open(inbox)
                try await show(first, "the installed copy, opened read-only")
                try store.add(recipes: 1_000)
                say("added 1000 recipes to the live store; a reader keeps generation \(first.generation.number) open")
                try await ship(store, to: address)
                try await show(try await open(inbox), "a new reader")
                try await show(first, "the reader that held on")
            }
            try await follow(store, to: address)
            try await show(try await open(inbox), "a new reader")
        }
        return folder.path
    }

    /// Ships the store over a link that breaks.
    private func breakOff(_ store: DemoStore, to address: Endpoint) async throws {
        // No coding takes less than 10.7 bytes for 24 words of 12: the link breaks before the middle.
        let most = DemoStore.recipes * 5
        try await Self.withBreakingLink(to: address, after: most) { address in
            guard try await Self.send(store.path, to: address) == nil else {
                throw Self.Failed(what: "breaking the link")
            }
        }
        say("send: the link broke after \(Figures.bytes(Int64(most)))")
    }

    private func ship(_ store: DemoStore, to address: Endpoint) async throws {
        let start = ContinuousClock.now
        guard let sent = try await Self.send(store.path, to: address) else { throw Self.Failed(what: "send") }
        let what =
            sent.isResumed
            ? "the rest, and what has changed since"
            : sent.delivery.store?.encoding == .delta ? "what has changed" : "all of it"
        say(
            "send: shipped \(what) in \(Figures.duration(.now - start)), \(Figures.bytes(sent.delivery.bytesSent)) on the wire"
        )
    }

    /// Follows the store, and changes it some times.
    private func follow(_ store: DemoStore, to address: Endpoint) async throws {
        try await Self.withFollower(of: store.path, to: address) { sent in
            var sent = sent.makeAsyncIterator()
            guard await sent.next() != nil else { throw Self.Failed(what: "send --follow") }
            let start = ContinuousClock.now
            var wire = Int64(0)
            for _ in 0..<Self.changes {
                try store.add(recipes: 10)
                guard let delivery = await sent.next() else { throw Self.Failed(what: "send --follow") }
                wire += delivery.bytesSent
            }
            say(
                "send --follow: shipped \(Self.changes) changes as they came, in \(Figures.duration(.now - start)), "
                    + "\(Figures.bytes(wire)) on the wire")
        }
    }

    private static let changes = 3

    /// The current generation, verified and opened.
    private func open(_ inbox: Inbox) async throws -> Pin {
        let findings = try await Verification.all(of: .inbox(inbox.root))
        if let problem = findings.lazy.compactMap(\.problem).first { throw problem }
        let current = try StoreCoordinator(inbox: inbox.root).pin("Recipes")
        say(
            "generation \(current.generation.number): \(Figures.bytes(current.manifest.store.size)), sha256 "
                + "\(current.manifest.store.sha256.short), verified")
        return current
    }

    private func show(_ store: Pin, _ who: String) async throws {
        let (recipes, balance) = try await store.read { database in
            (
                try Int.fetchOne(database, sql: "SELECT count(*) FROM recipe") ?? 0,
                try Int.fetchOne(database, sql: "SELECT sum(balance) FROM account") ?? 0
            )
        }
        // Every committed state has this balance.
        guard balance == DemoStore.total else { throw Self.Failed(what: "the copy is inconsistent; shipping") }
        say("\(who) sees \(recipes) recipes, and balances that add up to \(balance)")
    }
}
