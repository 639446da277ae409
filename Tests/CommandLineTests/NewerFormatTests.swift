import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// What a later version of the program has made: this one says so, and touches nothing.
@Suite struct NewerFormatTests {
    private let desk: Desk

    init() async throws {
        desk = try Desk()
        try desk.makeStore()
        try await desk.shell(
            """
            $SHIP send Recipes.sqlite --to ./a.shipment -q; $SHIP receive --into inbox --from ./a.shipment -q
            sqlite3 Recipes.sqlite "INSERT INTO recipe(title) VALUES ('new')"
            $SHIP send Recipes.sqlite --to ./b.shipment -q; $SHIP receive --into inbox --from ./b.shipment -q
            """
        ).expectSuccess()
    }

    @Test func `an inbox of a later format is not opened by any command`() async throws {
        try await desk.shell("echo 2 > inbox/.ship-store/.format").expectSuccess()
        let before = try FolderListing(of: desk["inbox"]).entries
        let store = ["Recipes", "--into", "inbox"]
        for command in [
            ["list", "--into", "inbox"], ["watch", "--into", "inbox", "--once"], ["holdings", "--into", "inbox"],
            ["prune", "--into", "inbox", "--keep", "1"], ["rollback"] + store, ["rollback", "--allow-again"] + store,
            ["forget"] + store, ["receive", "--into", "inbox", "--from", "./b.shipment"],
            ["receive", "--into", "inbox", "--listen", "127.0.0.1:0", "--once"], ["verify", "inbox"],
            ["inspect", "inbox"],
        ] {
            try await desk.run(command).expectFailure(
                78, "a later version of this program made inbox: its format is 2, and this program knows 1",
                hint: "update this program")
        }
        let sent = try await desk.run(
            "send", "Recipes.sqlite", "--to", "exec:\(try BuiltProgram.path()) receive --into inbox --from -")
        #expect(sent.status != .exited(0))
        #expect(try FolderListing(of: desk["inbox"]).entries == before)
        // The format that it knows, and an inbox whose receiver was killed before it said so.
        for repair in ["echo 1 > inbox/.ship-store/.format", "rm inbox/.ship-store/.format"] {
            try await desk.shell(repair).expectSuccess()
            try await desk.run("list", "--into", "inbox").expectSuccess()
        }
        try await desk.run("receive", "--into", "inbox", "--from", "./b.shipment").expectSuccess()
        #expect(try await desk.shell("cat inbox/.ship-store/.format").stdout == "1\n")
    }

    @Test func `a list of trusted devices, and a memory, of a later format stay as they are`() async throws {
        try await desk.run("trust", try await desk.id(of: "other"), "--name", "watch").expectSuccess()
        let list = desk.configuration.appending("ship-store/peers.json")
        _ = try await desk.shell("sed -i 's/\"version\" : 1/\"version\" : 2/' '\(list)'")
        for command in [
            ["peers"], ["trust", "watch"], ["distrust", "watch"], ["holdings", "--into", "inbox", "--for", "a"],
        ] {
            try await desk.run(command).expectFailure(
                78, "a later version of this program wrote \(list), in a format, 2, that this one does not know",
                hint: "update this program")
        }
        try await desk.shell("rm '\(list)'").expectSuccess()
        let receiver = try await desk.listen()
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectSuccess()
        let index = desk.memory.appending("index.json")
        try await desk.shell("sed -i 's/\"version\":1/\"version\":2/' '\(index)'").expectSuccess()
        let before = try FolderListing(of: desk.memory).entries
        try await desk.run("bases").expectFailure(
            78, "a later version of this program wrote \(index), in a format, 2, that this one does not know",
            hint: "update this program, or set XDG_STATE_HOME to another folder")
        // What can do without it does.
        let outcome = try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--replace")
        #expect(
            outcome.status == .exited(0) && outcome.stderr.contains("shipments take more bytes"), "\(outcome.stderr)")
        #expect(try FolderListing(of: desk.memory).entries == before)
    }
}
