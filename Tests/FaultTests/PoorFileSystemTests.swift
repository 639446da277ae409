import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// FAT and many network file systems have no hard links, some no rename that refuses to replace, no symbolic links, no owners or modes.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct PoorFileSystemTests {
    private let scratch: ScratchFolder
    private let desk: FilePath
    private let seed = UInt64.random(in: 0..<1 << 32)

    init() throws {
        scratch = try ScratchFolder()
        desk = try scratch.folder("desk")
        try CoreDataSample(at: desk.appending("Recipes.sqlite")).addEverything()
    }

    /// What such a file system lacks, and how it says so, by a seed.
    private struct Lack: CustomStringConvertible {
        let calls: [String]
        let action: FaultShim.Action

        init(calls: [String], action: FaultShim.Action) { (self.calls, self.action) = (calls, action) }

        init(seed: UInt64) {
            var random = RepeatableRandom(seed: seed)
            var calls = ["link", "linkat"]
            if Bool.random(using: &random) { calls.append("renameat2") }
            if Bool.random(using: &random) { calls += ["chmod", "fchmod", "fchown", "fsetxattr"] }
            self.calls = calls
            action = [.eperm, .enotsup, .enosys].randomElement(using: &random) ?? .eperm
        }

        var description: String { "\(action) of \(calls.joined(separator: ", "))" }
    }

    private func run(_ lack: Lack, _ arguments: String...) async throws -> ChildProgram.Outcome {
        try await BuiltProgram.run(
            arguments,
            environment: FaultShim.environment(
                lack.action, at: 1, .onward, only: lack.calls, log: scratch.path.appending("calls")), in: desk)
    }

    private func content(_ name: String) throws -> StoreContent { try StoreContent(of: desk.appending(name)) }

    private func leftovers() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: desk.string).filter { $0.contains(".ship-store-") }
    }

    @Test(arguments: 0..<(Soak.isOn ? 20 : 2))
    func `stores are copied, restored and moved on a file system without hard links`(number: UInt64) async throws {
        let lack = Lack(seed: seed &+ number)
        let comment: Comment = "seed \(seed &+ number): \(lack)"
        let whole = try content("Recipes.sqlite")
        func expect(_ outcome: ChildProgram.Outcome) {
            #expect(outcome.status == .exited(0), "\(comment) \(outcome.stderr)")
        }
        expect(try await run(lack, "copy", "Recipes.sqlite", "--to", "copies", "--as", "latest"))
        #expect(try content("copies/latest.sqlite") == whole, comment)
        expect(try await run(lack, "copy", "Recipes.sqlite", "--to", "copies"))
        let kept = try await run(lack, "copy", "Recipes.sqlite", "--keep-in", "kept")
        expect(kept)
        let copy = try #require(kept.lines.first)
        for ending in ["", "-wal", "-shm"] { try Folder.removeTree(at: desk.appending("Recipes.sqlite\(ending)")) }
        expect(try await run(lack, "restore", copy, "--over", "Recipes.sqlite"))
        #expect(try content("Recipes.sqlite") == whole, comment)
        try Data(repeating: 7, count: 4096).write(to: URL(filePath: desk.appending("Recipes.sqlite").string))
        expect(try await run(lack, "restore", copy, "--over", "Recipes.sqlite"))
        #expect(try content("Recipes.sqlite") == whole, comment)
        let damaged = try Folder.names(in: desk).filter { $0.contains(".damaged-") }
        #expect(damaged.count == 1, comment)
        for name in damaged {
            let bytes = try Data(contentsOf: URL(filePath: desk.appending("\(name)/Recipes.sqlite").string))
            #expect(bytes == Data(repeating: 7, count: 4096), comment)
        }
        expect(try await run(lack, "restore", copy, "--over", "Recipes.sqlite"))
        expect(try await run(lack, "send", "Recipes.sqlite", "--to", "./a.shipment", "--no-remember"))
        expect(try await run(lack, "move", "Recipes.sqlite", "--to", "elsewhere", "--remove-old"))
        #expect(try content("elsewhere/Recipes.sqlite") == whole, comment)
        #expect(try leftovers() == [], comment)
    }

    /// What could get no second name was copied, and the copies go.
    @Test func `a restore that fails there leaves a damaged store as it was`() async throws {
        let kept = try await BuiltProgram.run(["copy", "Recipes.sqlite", "--keep-in", "kept"], in: desk)
        let copy = try #require(kept.lines.first)
        try Data(repeating: 7, count: 4096).write(to: URL(filePath: desk.appending("Recipes.sqlite").string))
        let before = try FolderListing(of: desk).entries
        let lack = Lack(calls: ["link", "linkat", "renameat2", "rename", "renameat"], action: .eperm)
        let outcome = try await run(lack, "restore", copy, "--over", "Recipes.sqlite")
        #expect(outcome.status != .exited(0))
        #expect(try FolderListing(of: desk).entries == before, "\(outcome.stderr)")
    }

    @Test func `nothing is overwritten there, either`() async throws {
        let lack = Lack(seed: seed)
        let comment: Comment = "seed \(seed): \(lack)"
        let taken = desk.appending("copies/latest.sqlite")
        try Folder.make(taken.removingLastComponent())
        try Data("mine".utf8).write(to: URL(filePath: taken.string))
        let copied = try await run(lack, "copy", "Recipes.sqlite", "--to", "copies", "--as", "latest")
        #expect(copied.status == .exited(73), "\(comment) \(copied.stderr)")
        try Folder.make(desk.appending("elsewhere"))
        try Data("mine".utf8).write(to: URL(filePath: desk.appending("elsewhere/Recipes.sqlite").string))
        let moved = try await run(lack, "move", "Recipes.sqlite", "--to", "elsewhere")
        #expect(moved.status == .exited(73), "\(comment) \(moved.stderr)")
        for name in ["copies/latest.sqlite", "elsewhere/Recipes.sqlite"] {
            #expect(try Data(contentsOf: URL(filePath: desk.appending(name).string)) == Data("mine".utf8), comment)
        }
        #expect(try leftovers() == [], comment)
    }

    @Test func `an inbox is kept on a file system without hard links`() async throws {
        let lack = Lack(seed: seed)
        let comment: Comment = "seed \(seed): \(lack)"
        for number in 1...3 {
            let sample = CoreDataSample(desk.appending("Recipes.sqlite"))
            try sample.addPhoto(key: 900 + number, content: Data("\(number)".utf8))
            try await BuiltProgram.expectSuccess(
                ["send", "Recipes.sqlite", "--to", "./a.shipment", "--no-remember", "-q"], in: desk)
            let received = try await run(lack, "receive", "--into", "inbox", "--from", "./a.shipment", "-q")
            #expect(received.status == .exited(0), "\(comment) \(received.stderr)")
            #expect(try content("inbox/Recipes.sqlite") == content("Recipes.sqlite"), comment)
        }
        try await BuiltProgram.expectSuccess(["verify", "inbox"], in: desk, comment)
    }

    @Test(arguments: [FaultShim.Action.eperm, .enotsup])
    func `an inbox on a file system without symbolic links is refused before anything comes`(
        action: FaultShim.Action
    ) async throws {
        try #require(
            try await BuiltProgram.run(
                ["send", "Recipes.sqlite", "--to", "./a.shipment", "--no-remember"], in: desk
            ).status == .exited(0))
        let outcome = try await BuiltProgram.run(
            ["receive", "--into", "inbox", "--from", "./a.shipment"],
            environment: FaultShim.environment(
                action, at: 1, .onward, only: ["symlink", "symlinkat"], log: scratch.path.appending("calls")), in: desk)
        #expect(outcome.status == .exited(73))
        #expect(outcome.stderr.contains("the file system of inbox has no symbolic links"), "\(outcome.stderr)")
        #expect(outcome.stderr.contains("hint: receive into a folder on another disk"), "\(outcome.stderr)")
        #expect(!outcome.stderr.contains("receiving"), "\(outcome.stderr)")
        try await BuiltProgram.expectSuccess(["receive", "--into", "inbox", "--from", "./a.shipment"], in: desk)
    }
}
