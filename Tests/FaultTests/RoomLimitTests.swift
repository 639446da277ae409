import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A limit on the size of files, a quota and a disk without inodes are said as what they are, with names that the user knows.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct RoomLimitTests {
    private let scratch: ScratchFolder
    private let desk: FilePath

    init() async throws {
        scratch = try ScratchFolder()
        desk = try scratch.folder("desk")
        // An index of a log would be the first that is written.
        try CoreDataSample(at: desk.appending("Recipes.sqlite"), journalMode: "DELETE").addEverything()
        for arguments in [
            ["copy", "Recipes.sqlite", "--keep-in", "kept"],
            ["send", "Recipes.sqlite", "--to", "./a.shipment", "--no-remember"],
        ] {
            try await BuiltProgram.expectSuccess(arguments + ["-q"], in: desk)
        }
    }

    /// Those that write, each to places of its own.
    private static let commands = [
        "copy Recipes.sqlite --to out --as latest", "copy Recipes.sqlite --keep-in more",
        "send Recipes.sqlite --no-remember --to ./b.shipment", "receive --into inbox --from ./a.shipment",
        "restore KEPT --over Recipes.sqlite", "move Recipes.sqlite --to elsewhere",
    ]

    /// Any write may be the first that fails.
    @Test(arguments: commands)
    func `a limit that a write meets is said`(command: String) async throws {
        let kept = try #require(try Folder.names(in: desk.appending("kept")).first)
        let arguments = command.replacing("KEPT", with: "kept/\(kept)").split(separator: " ").map(String.init)
        let seed = UInt64.random(in: 0..<1 << 32)
        var random = RepeatableRandom(seed: seed)
        let action: FaultShim.Action = Bool.random(using: &random) ? .efbig : .edquot
        let before = try StoreContent(of: desk.appending("Recipes.sqlite"))
        for number in [1] + (0..<(Soak.isOn ? 20 : 1)).map({ _ in Int.random(in: 2..<12, using: &random) }) {
            let outcome = try await BuiltProgram.run(
                arguments,
                environment: FaultShim.environment(
                    action, at: number, .onward, only: ["write", "pwrite", "ftruncate"],
                    log: scratch.path.appending("calls")), in: desk)
            let comment: Comment = "seed \(seed), \(action) from write \(number): \(outcome.stderr)"
            // A later write than its last, or that of what the command says.
            if outcome.status == .exited(0) || outcome.stderr.contains("standard output is lost") { break }
            #expect(outcome.status == .exited(73), comment)
            let complaint = outcome.stderr.split(separator: "\n").filter { $0.contains("error: ") }.joined()
            // What is written to that process is in no file.
            if complaint.contains("the process that checks stores") { break }
            let words = action == .edquot ? "the disk quota of this user" : "takes no file of that size"
            #expect(complaint.contains(words), comment)
            #expect(!complaint.contains("/proc/self") && !complaint.contains("/.ship-store"), comment)
            #expect(!complaint.contains("/ship-store-"), comment)
            #expect(!outcome.stderr.contains("free some space"), comment)
        }
        #expect(try StoreContent(of: desk.appending("Recipes.sqlite")) == before)
    }

    /// In WAL mode the log and its index are there already where an app has the store open.
    @Test(arguments: ["DELETE", "WAL", "WAL, open"], [FaultShim.Action.edquot, .efbig])
    func `a limit is said wherever SQLite meets it`(mode: String, action: FaultShim.Action) async throws {
        let log = scratch.path.appending("writes")
        /// - Returns: How it ended, and the names of the files that it wrote to, until all writes failed from one on.
        func write(failingFrom number: Int) async throws -> (ChildProgram.Outcome, [String]) {
            let folder = try scratch.folder("from-\(number)")
            var app: DatabaseQueue? = try DatabaseQueue(path: folder.appending("Store.sqlite").string)
            try await app?.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA journal_mode = \(mode.prefix { $0 != "," })")
                try database.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)")
            }
            if mode != "WAL, open" { app = nil }
            defer { withExtendedLifetime(app) {} }
            let outcome = try await BuiltProgram.run(
                ["metadata", "Store.sqlite", "--set", "kind=test"],
                environment: FaultShim.environment(
                    action, at: number, .onward, only: ["pwrite", "ftruncate"], log: log),
                in: folder)
            defer { try? Folder.removeTree(at: log) }
            return (outcome, FaultShim.calls(in: log).compactMap { FilePath($0.path).lastComponent?.string })
        }
        let (whole, files) = try await write(failingFrom: 0)
        #expect(whole.status == .exited(0), "\(whole.stderr)")
        // The journal's header is written again just before the store, and grows nothing.
        let header = files.firstIndex(of: "Store.sqlite")
        for number in 1...files.count where number != header {
            let (outcome, _) = try await write(failingFrom: number)
            // At the end the log is copied into the store, and it is no matter if it is not.
            if mode.hasPrefix("WAL"), outcome.status == .exited(0) { continue }
            let words = action == .edquot ? "the disk quota of this user" : "takes no file of that size"
            let comment: Comment = "write \(number) of \(files): \(outcome.stderr)"
            #expect(outcome.status == .exited(73), comment)
            #expect(outcome.stderr.contains(words), comment)
        }
    }

    /// Whoever reads a store in WAL mode makes the index of its log, if there is none.
    @Test(arguments: [
        "copy Store.sqlite --to out", "send Store.sqlite --no-remember --to ./c.shipment", "inspect Store.sqlite",
        "verify Store.sqlite", "metadata Store.sqlite", "move Store.sqlite --to elsewhere",
    ])
    func `a limit is said where the index of a log cannot be made`(command: String) async throws {
        let store = desk.appending("Store.sqlite")
        let app = try DatabaseQueue(path: store.string)
        try await app.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
        }
        try app.close()
        let log = scratch.path.appending("writes")
        for number in 1...2 {
            let outcome = try await BuiltProgram.run(
                command.split(separator: " ").map(String.init),
                environment: FaultShim.environment(
                    .edquot, at: number, .onward, only: ["pwrite", "ftruncate"], log: log), in: desk)
            #expect(outcome.status == .exited(73), "\(number): \(outcome.stderr)")
            #expect(outcome.stderr.contains("the disk quota of this user"), "\(number): \(outcome.stderr)")
        }
    }

    @Test(.enabled("may not mount a tmpfs") { await SmallDisk.isAvailable() })
    func `a disk that holds no more files is not called full`() async throws {
        try await SmallDisk.with(size: "16m,nr_inodes=4") { disk in
            for arguments in [
                ["copy", "Recipes.sqlite", "--to", disk.string], ["copy", "Recipes.sqlite", "--keep-in", disk.string],
                ["send", "Recipes.sqlite", "--no-remember", "--to", disk.appending("a.shipment").string],
                ["receive", "--into", disk.string, "--from", "./a.shipment"],
            ] {
                try Data().write(to: URL(filePath: disk.appending("one").string))
                try Data().write(to: URL(filePath: disk.appending("two").string))
                let outcome = try await BuiltProgram.run(arguments, in: desk)
                #expect(outcome.status == .exited(73), "\(arguments) \(outcome.stderr)")
                #expect(outcome.stderr.contains("can hold no more files"), "\(arguments) \(outcome.stderr)")
                #expect(outcome.stderr.contains("hint: remove files that are not needed"), "\(outcome.stderr)")
                for name in try Folder.names(in: disk) { try Folder.removeTree(at: disk.appending(name)) }
            }
        }
    }
}
