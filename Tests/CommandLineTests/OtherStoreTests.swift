import Foundation
import SystemPackage
import TestSupport
import Testing

/// Another store under the name of one that the inbox holds.
@Suite struct OtherStoreTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private static let hintThere =
        "send it under another name with --name, or ask the operator there to say `ship-store receive --into INBOX --replace NAME`"
    private static let hintHere =
        "ship this one under a name of its own with `ship-store send --name`, or let it take the place of the other "
        + "with `ship-store receive --into INBOX --replace Same`"

    /// No manifest has these names.
    private static let oddTables =
        #"CREATE TABLE ""(a); INSERT INTO "" VALUES (1); CREATE TABLE "\#(String(repeating: "n", count: 300))"(a)"#

    @Test func `a store with tables that no manifest names may get another one`() async throws {
        try TestStore.make(at: desk["Same.sqlite"], sql: Self.oddTables)
        let receiver = try await desk.listen()
        try await desk.run("send", "Same.sqlite", "--to", receiver.address).expectSuccess()
        try TestStore.make(at: desk["Same.sqlite"], sql: "CREATE TABLE more(a)")
        try await desk.run("send", "Same.sqlite", "--to", receiver.address).expectSuccess()
        _ = try await receiver.stop()
        #expect(try desk.hasInstalled("Same", from: "Same.sqlite"))
    }

    /// A store of each kind, and one that must not follow it under its name.
    enum Pair: String, CaseIterable, Sendable {
        case identities, tables, untoldTables, emptyFile, emptied

        var cause: String {
            switch self {
            case .identities: "its identity is not that of the shipment"
            case .tables, .untoldTables: "it has no table of the same name as any of the shipment"
            case .emptyFile, .emptied: "it has tables or rows, and the shipment has none"
            }
        }

        func make(on desk: Desk) throws {
            switch self {
            case .identities:
                _ = try CoreDataSample(at: desk["Same.sqlite"])
                _ = try CoreDataSample(at: desk["Same.db"])
                try TestStore.make(at: desk["Same.db"], sql: "UPDATE Z_METADATA SET Z_UUID = 'B'")
            case .tables:
                try desk.makeStore("Same.sqlite")
                try TestStore.make(at: desk["Same.db"], sql: "CREATE TABLE invoice(a); INSERT INTO invoice VALUES (1)")
            case .untoldTables:
                try TestStore.make(at: desk["Same.sqlite"], sql: OtherStoreTests.oddTables)
                let long = String(repeating: "m", count: 300)
                try TestStore.make(
                    at: desk["Same.db"], sql: "CREATE TABLE \"\(long)\"(a); INSERT INTO \"\(long)\" VALUES (1)")
            case .emptyFile:
                try desk.makeStore("Same.sqlite")
                try Data().write(to: URL(fileURLWithPath: desk["Same.db"].string))
            case .emptied:
                try desk.makeStore("Same.sqlite")
                try desk.makeStore("Same.db")
                try TestStore.make(at: desk["Same.db"], sql: "DELETE FROM recipe")
            }
        }
    }

    @Test(arguments: Pair.allCases)
    func `it is refused on either side, and what was there stays`(pair: Pair) async throws {
        try pair.make(on: desk)
        let receiver = try await desk.listen()
        try await desk.run("send", "Same.sqlite", "--no-remember", "--to", receiver.address).expectSuccess()
        let cause = "another store is there under the name Same: \(pair.cause)"
        try await desk.run("send", "Same.db", "--no-remember", "--to", receiver.address).expectFailure(
            73, "the receiver refused the shipment: \(cause)", hint: Self.hintThere)
        try await desk.run("send", "Same.db", "--no-remember", "--to", receiver.address, "--name", "Other")
            .expectSuccess()
        let stopped = try await receiver.stop()
        #expect(stopped.stderr.contains("not installed: \(cause)\n"))

        try await desk.run("send", "Same.db", "--no-remember", "--to", "./a").expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "./a").expectFailure(
            73, cause, hint: Self.hintHere)
        #expect(try desk.hasInstalled("Same", from: "Same.sqlite"))
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: Pair.allCases)
    func `the operator lets one shipment take its place, and no more`(pair: Pair) async throws {
        try pair.make(on: desk)
        try await desk.run("send", "Same.sqlite", "--no-remember", "--to", "./first").expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "./first").expectSuccess()
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--replace", "Same")
        try await desk.run("send", "Same.db", "--no-remember", "--to", receiver.address).expectSuccess()
        #expect(try desk.hasInstalled("Same", from: "Same.db"))
        let back = try await desk.run("send", "Same.sqlite", "--no-remember", "--to", receiver.address)
        // Whatever follows on an empty file, or on a cleared table of its own, is welcome.
        let isWelcome = pair == .emptyFile || pair == .emptied
        #expect(back.status == .exited(isWelcome ? 0 : 73))
        _ = try await receiver.stop()
    }

    @Test func `a queue may be empty, if that is said`() async throws {
        try Pair.emptied.make(on: desk)
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--allow-empty")
        for store in ["Same.sqlite", "Same.db", "Same.sqlite", "Same.db"] {
            try await desk.run("send", store, "--no-remember", "--to", receiver.address).expectSuccess()
        }
        _ = try await receiver.stop()
    }

    @Test func `a store that was migrated is welcome`() async throws {
        _ = try CoreDataSample(at: desk["Photos.sqlite"])
        try desk.makeStore()
        let receiver = try await desk.listen()
        try await desk.run("send", "Photos.sqlite", "--to", receiver.address).expectSuccess()
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectSuccess()
        try TestStore.make(
            at: desk["Photos.sqlite"],
            sql: "DROP TABLE ZPHOTO; DROP TABLE ZRECIPE; CREATE TABLE ZDISH(Z_PK INTEGER PRIMARY KEY, ZNAME)")
        try TestStore.make(
            at: desk["Recipes.sqlite"],
            sql: "CREATE TABLE dish(a); INSERT INTO dish VALUES (1); ALTER TABLE recipe ADD COLUMN more")
        try await desk.run("send", "Photos.sqlite", "--to", receiver.address).expectSuccess()
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectSuccess()
        _ = try await receiver.stop()
    }
}
