import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// What `send` to a file may take the place of.
@Suite struct OverwritingTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private func bytes(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: desk[name].string))
    }

    /// Lets an app have the store open in WAL mode, so that all of its files are there.
    private func whileOpen(_ name: String, _ body: () async throws -> Void) async throws {
        let app = try TestStore.open(desk[name])
        defer { try? app.close() }
        try await app.writeWithoutTransaction { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS more(a)") }
        try await body()
    }

    @Test(arguments: [
        "./Recipes.sqlite", "file:Recipes.sqlite", "./Recipes.sqlite-wal", "./Recipes.sqlite-shm",
        "./Recipes.sqlite-journal", "./link", "./hard", "./folder/Recipes.sqlite", "./folder/Recipes.sqlite-wal",
    ])
    func `the store that is sent is never hit, under whatever name`(target: String) async throws {
        try desk.makeStore()
        try await desk.shell("ln -s Recipes.sqlite link; ln Recipes.sqlite hard; ln -s . folder").expectSuccess()
        try await whileOpen("Recipes.sqlite") {
            let before = try FolderListing(of: desk.path).entries
            for force in [[], ["--force"]] {
                let outcome = try await desk.run(["send", "Recipes.sqlite", "--to", target] + force)
                outcome.expectFailure(
                    64, "\(target.trimmingPrefix("file:")) belongs to the store that is sent, and would be destroyed",
                    hint: "name another file")
                #expect(try FolderListing(of: desk.path).entries == before)
            }
        }
    }

    @Test func `nor is the store by which another name leads to it`() async throws {
        try desk.makeStore()
        try await desk.shell("ln -s Recipes.sqlite link").expectSuccess()
        let before = try bytes("Recipes.sqlite")
        for target in ["./Recipes.sqlite", "./Recipes.sqlite-wal", "./link"] {
            #expect(try await desk.run("send", "link", "--to", target, "--force").status == .exited(64))
        }
        #expect(
            try await desk.shell("$SHIP send Recipes.sqlite --to - 1<> Recipes.sqlite || test $? = 64").status
                == .exited(0))
        #expect(try bytes("Recipes.sqlite") == before)
    }

    @Test func `nor are its external files`() async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        let name = try sample.addPhoto(key: 1, content: Data(repeating: 7, count: 200_000))
        let folder = ".Photos_SUPPORT/_EXTERNAL_DATA"
        try await desk.shell("ln \(folder)/\(name) second").expectSuccess()
        let before = try FolderListing(of: desk.path).entries
        for target in ["./\(folder)/\(name)", "./\(folder)/new", "./.Photos_SUPPORT/a.shipment", "./second"] {
            #expect(try await desk.run("send", "Photos.sqlite", "--to", target, "--force").status == .exited(64))
        }
        #expect(try FolderListing(of: desk.path).entries == before)
    }

    @Test func `a file that is no shipment stays, unless that is said`() async throws {
        try desk.makeStore()
        try desk.makeStore("Other.sqlite")
        try await desk.shell("echo precious > note; : > empty; ln -s nowhere dangling").expectSuccess()
        let before = try FolderListing(of: desk.path).entries
        for target in ["./note", "./empty", "./dangling", "./Other.sqlite"] {
            try await desk.run("send", "Recipes.sqlite", "--to", target).expectFailure(
                73, "\(target) is there already, and is no shipment",
                hint: "name another file, or say --force to replace this one")
        }
        #expect(try FolderListing(of: desk.path).entries == before)
        #expect(try desk.leftovers == [])
        try await desk.run("send", "Recipes.sqlite", "--to", "./note", "--force").expectSuccess()
        try await desk.run("verify", "note").expectSuccess()
    }

    @Test func `a shipment is replaced, be it whole or not`() async throws {
        try desk.makeStore()
        try await desk.run("send", "Recipes.sqlite", "--to", "a.shipment").expectSuccess()
        let first = try bytes("a.shipment")
        try await desk.shell("head -c 40 a.shipment > cut.shipment").expectSuccess()
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "INSERT INTO recipe(title) VALUES ('Bread')")
        for target in ["a.shipment", "cut.shipment"] {
            try await desk.run("send", "Recipes.sqlite", "--to", target).expectSuccess()
            #expect(try bytes(target) != first)
            try await desk.run("verify", target).expectSuccess()
        }
    }

    @Test func `the shipment of --since stays, as others are made from it`() async throws {
        try desk.makeStore()
        try await desk.run("send", "Recipes.sqlite", "--to", "a.shipment").expectSuccess()
        try await desk.shell("ln -s a.shipment link").expectSuccess()
        let before = try FolderListing(of: desk.path).entries
        for target in ["./a.shipment", "./link"] {
            try await desk.run("send", "Recipes.sqlite", "--since", "a.shipment", "--to", target, "--force")
                .expectFailure(64, "\(target) is named twice", hint: "name two different places")
        }
        #expect(try FolderListing(of: desk.path).entries == before)
    }

    @Test func `what comes while the shipment is written stays too`() async throws {
        try desk.makeLargeStore()
        let send = try desk.start("send", "Large.sqlite", "--to", "./note", "--level", "9")
        // Until the hidden folder is there, nothing has been looked at.
        let deadline = ContinuousClock.now + .seconds(20)
        while try desk.leftovers.isEmpty, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(1)) }
        try await desk.shell("echo precious > note").expectSuccess()
        let outcome = try await send.wait(timeout: .seconds(60))
        outcome.expectFailure(
            73, "./note is there already, and is no shipment",
            hint: "name another file, or say --force to replace this one")
        #expect(try bytes("note") == Data("precious\n".utf8))
        #expect(try desk.leftovers == [])
    }

    @Test func `--force is for files`() async throws {
        try desk.makeStore()
        try await desk.run("send", "Recipes.sqlite", "--to", "watch", "--force").expectFailure(
            64, "--force is for files", hint: "see `ship-store send --help`")
    }
}
