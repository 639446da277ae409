import Foundation
import GRDB
import ShipStore
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Restores while other processes have the store open: they see one state or the other, and meet nothing but locks.
@Suite(.serialized) struct RestoreUnderLoadTests {
    private let scratch: ScratchFolder
    private let store: FilePath
    private let copies: [FilePath]

    /// Two stores with money, books and schemas of their own: a mixture of any two of these does not add up.
    init() throws {
        scratch = try ScratchFolder()
        let folder = try scratch.folder("bank")
        store = folder.appending("bank.sqlite")
        copies = (1...2).map { folder.appending("copy\($0).sqlite") }
        for (index, path) in copies.enumerated() {
            let (balance, columns) = (1000 * (index + 1), 2 + index)
            try TestStore.make(
                at: path,
                sql: """
                    CREATE TABLE account(id INTEGER PRIMARY KEY, balance INT\(columns == 3 ? ", note TEXT" : ""));
                    CREATE TABLE book(total INT, columns INT); CREATE TABLE one(stamp INT); CREATE TABLE two(stamp INT);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
                    INSERT INTO account(id, balance) SELECT i, \(balance) FROM n;
                    INSERT INTO book VALUES (\(200 * balance), \(columns));
                    INSERT INTO one VALUES (\(index)); INSERT INTO two VALUES (\(index));
                    """)
        }
    }

    private func client(_ role: String) throws -> ChildProgram {
        let script = FilePath(#filePath).removingLastComponent().removingLastComponent().appending("Clients/bank.py")
        return try ChildProgram("/usr/bin/env", ["python3", script.string, role, store.string], input: .pipe)
    }

    @Test(arguments: [("WAL", 100), ("DELETE", 10)])
    func `restores under eight readers and two writers are one commit each to them`(
        mode: String, restores: Int
    ) async throws {
        try FileManager.default.copyItem(atPath: copies[0].string, toPath: store.string)
        try TestStore.make(at: store, sql: "PRAGMA journal_mode = \(mode)")
        let clients = try ["writer", "writer"].map(client) + (1...8).map { _ in try client("reader") }
        for client in clients { _ = try await client.waitForLine(containing: "open", on: .output) }
        var kept: [KeptCopy] = []
        for copy in copies {
            kept.append(try await LocalStore(copy).keepCopy(in: KeptCopies(in: scratch.path.appending("kept"))))
        }
        var options = RestoreOptions()
        options.safetyCopy = .kept(KeptCopies(in: scratch.path.appending("safety")))
        options.busyTimeout = .seconds(60)
        // Their schemas differ.
        options.takesOtherIdentity = true
        var safetyCopies: [KeptCopy] = []
        for number in 1...restores {
            let restoration = try await LocalStore(store).restore(from: kept[number % 2].path, options: options)
            safetyCopies += restoration.safetyCopy.map { [$0] } ?? []
        }
        for client in clients {
            client.closeInput()
            let outcome = try await client.wait()
            let words = outcome.lines.last ?? ""
            #expect(words.hasPrefix("done ") && words.hasSuffix("flaws []"), "\(words) \(outcome.stderr)")
            #expect(!words.hasPrefix("done 0 "), "it never came to its turn")
        }
        // No commit fell between the safety copy and the restore: what a store was left with is what was kept of it.
        #expect(safetyCopies.count == restores)
        for copy in [safetyCopies.first, safetyCopies.last].compactMap(\.self) {
            let content = try StoreContent(of: copy.storePath)
            #expect(content.tables["one"] == content.tables["two"])
        }
        let last = try TestStore.open(store)
        #expect(
            try await last.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == mode.lowercased())
        try last.close()
    }

    /// Every commit before a restore is in its safety copy: the writer's last number is either there, or came later.
    @Test func `a commit that was acknowledged before a restore is in its safety copy`() async throws {
        try FileManager.default.copyItem(atPath: copies[0].string, toPath: store.string)
        try TestStore.make(at: store, sql: "PRAGMA journal_mode = WAL")
        let writer = try client("writer")
        _ = try await writer.waitForLine(containing: "open", on: .output)
        var options = RestoreOptions()
        options.busyTimeout = .seconds(60)
        options.safetyCopy = .kept(KeptCopies(in: scratch.path.appending("safety")))
        var transfers = 0
        for _ in 1...10 {
            let restoration = try await LocalStore(store).restore(from: copies[0], options: options)
            let kept = try #require(restoration.safetyCopy)
            let copy = try DatabaseQueue(path: kept.storePath.string, configuration: Self.readOnly)
            transfers += try await copy.read { try Int.fetchOne($0, sql: "SELECT stamp FROM one") } ?? 0
            try copy.close()
        }
        writer.closeInput()
        let outcome = try await writer.wait()
        let last = try TestStore.open(store)
        transfers += try await last.read { try Int.fetchOne($0, sql: "SELECT stamp FROM one") } ?? 0
        try last.close()
        // Each restore sets the count to 0, so that all counts together are all transfers.
        #expect(outcome.lines.last?.hasPrefix("done \(transfers) ") == true, "\(outcome.stdout) for \(transfers)")
        #expect(transfers > 0)
    }

    private static var readOnly: Configuration {
        var configuration = Configuration()
        configuration.readonly = true
        return configuration
    }
}
