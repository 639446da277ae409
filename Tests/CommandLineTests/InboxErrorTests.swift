import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Inboxes into which nothing can be installed.
@Suite struct InboxErrorTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore()
    }

    @Test func `another receiver has it`() async throws {
        let receiver = try await desk.listen()
        try await desk.run("receive", "--into", "inbox", "--listen", "127.0.0.1:0").expectFailure(
            75, "inbox is in use by another receiver (process \(receiver.program.processID))",
            hint: "stop that one, or receive into another folder")
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectSuccess()
        try await receiver.stop().expectSuccess()
        try await desk.listen().stop().expectSuccess()
    }

    @Test func `it is where another inbox keeps its stores`() async throws {
        let line = "$SHIP send Recipes.sqlite --to - -q | $SHIP receive -q --from - --into"
        try await desk.shell("\(line) inbox; ln -s inbox/.ship-store depot").expectSuccess()
        let before = try FolderListing(of: desk["inbox"])
        for path in ["inbox/.ship-store", "inbox/.ship-store/new", "inbox/.ship-store/Recipes", "depot"] {
            let outcome = try await desk.run("receive", "--into", path, "--listen", "127.0.0.1:0")
            #expect(outcome.status == .exited(64), "\(outcome.stderr)")
            #expect(outcome.complaints.first?.contains("\(path) is where the inbox ") == true, "\(outcome.stderr)")
            #expect(outcome.complaints.last?.contains("hint: name the inbox itself: ") == true, "\(outcome.stderr)")
        }
        let send = ["send", "--listen", "127.0.0.1:0", "--insecure", "--once", "--inbox"]
        for command in [["list", "--into"], ["rollback", "Recipes", "--into"], send] {
            let outcome = try await desk.run(command + ["inbox/.ship-store"])
            #expect(outcome.status == .exited(64), "\(outcome.stderr)")
            let inbox = desk["inbox"]
            let words = "ship-store: error: inbox/.ship-store is where the inbox \(inbox) keeps its stores"
            #expect(outcome.complaints.suffix(2) == [words, "ship-store: hint: name the inbox itself: \(inbox)"])
        }
        #expect(try FolderListing(of: desk["inbox"]) == before)
    }

    @Test func `a file is named as an inbox`() async throws {
        let send = ["send", "--listen", "127.0.0.1:0", "--insecure", "--once", "--inbox"]
        for command in [["list", "--into"], ["rollback", "Recipes", "--into"], send] {
            let outcome = try await desk.run(command + ["Recipes.sqlite"])
            #expect(outcome.status == .exited(66), "\(outcome.stderr)")
            let error = "ship-store: error: Recipes.sqlite is a file, and an inbox is a folder"
            let hint = "ship-store: hint: name the folder that `ship-store receive --into` was given"
            #expect(outcome.complaints.suffix(2) == [error, hint])
        }
    }

    @Test func `something else has the store's name`() async throws {
        _ = try await desk.shell("mkdir inbox; echo mine > inbox/Recipes.sqlite")
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--once")
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectFailure(
            73, "the receiver refused the shipment: Recipes.sqlite is in the way in the inbox")
        try await receiver.program.wait().expectFailure(
            73, "inbox/Recipes.sqlite is in the way: something other than the inbox put it there",
            hint: "move it away, or ship under another name with --name")
        #expect(try await desk.shell("cat inbox/Recipes.sqlite").stdout == "mine\n")
        #expect(try desk.leftovers == [])
        // The hint helps.
        let line = "$SHIP send Recipes.sqlite --to - --name Soups | $SHIP receive --into inbox --from -"
        try await desk.shell(line).expectSuccess()
        #expect(try desk.hasInstalled("Soups", from: "Recipes.sqlite"))
    }

    @Test(arguments: ["staging", "generations"])
    func `something else has the name of one of its folders`(folder: String) async throws {
        try await desk.shell("$SHIP send Recipes.sqlite --to ./a.shipment -q").expectSuccess()
        let place = "inbox/.ship-store/Recipes/\(folder)"
        try await desk.shell("mkdir -p inbox/.ship-store/Recipes; : > \(place)").expectSuccess()
        let outcome = try await desk.run("receive", "--into", "inbox", "--from", "./a.shipment")
        #expect(outcome.status != .exited(0))
        #expect(
            outcome.complaints.last
                == "ship-store: hint: move \(place) away: it is no folder, and the inbox keeps one there",
            "\(outcome.stderr)")
        try await desk.shell("rm \(place); $SHIP receive --into inbox --from ./a.shipment").expectSuccess()
    }

    @Test func `there is no inbox`() async throws {
        try await desk.run("list", "--into", "nowhere").expectFailure(
            66, "nowhere is no inbox", hint: "receive into it first: ship-store receive --into nowhere")
        try await desk.run("list", "--into", "\(desk.path)").expectFailure(
            66, "\(desk.path) is no inbox", hint: "receive into it first: ship-store receive --into \(desk.path)")
        try await desk.run("receive", "--into", "Recipes.sqlite", "--listen", "127.0.0.1:0").expectFailure(
            73, "cannot make the folder Recipes.sqlite: Not a directory",
            hint: "a part of the path is a file, not a folder: choose another path")
    }

    /// A file system of half a megabyte; nothing is tested where this process may not mount any.
    @Test func `the disk of the inbox is full`() async throws {
        try desk.makeLargeStore(megabytes: 1)
        let outcome = try await desk.shell(
            """
            unshare -m true 2> /dev/null || exit 99
            mkdir inbox
            exec unshare -m sh -c '
              mount -t tmpfs -o size=500k tmpfs inbox
              "$SHIP" send Large.sqlite --quiet --to "exec:$SHIP receive --quiet --into inbox --from -" || status=$?
              find inbox -type f -o -type d | sort
              exit "$status"'
            """)
        guard outcome.status != .exited(99) else { return }
        #expect(outcome.status == .exited(73))
        // Either side's error and hint.
        #expect(outcome.complaints.count == 4)
        for line in outcome.complaints.filter({ $0.contains(": error: ") }) {
            #expect(
                line.contains("the disk of the inbox has ") && line.contains(" bytes free, and the shipment needs "))
        }
        #expect(!outcome.stdout.contains("/staging/"))
        #expect(try desk.leftovers == [])
    }
}
