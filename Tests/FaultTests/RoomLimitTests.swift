import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A limit on the size of files, a quota and a disk without inodes are said as what they are, with names that the user knows.
@Suite(.enabled("cc or LD_PRELOAD is missing") { await FaultShim.isAvailable() })
struct RoomLimitTests {
    private let scratch: ScratchFolder
    private let shim: FaultShim
    private let desk: FilePath

    init() async throws {
        scratch = try ScratchFolder()
        shim = try await FaultShim(in: scratch.path)
        desk = try scratch.folder("desk")
        // An index of a log would be the first that is written.
        try CoreDataSample(at: desk.appending("Recipes.sqlite"), journalMode: "DELETE").addEverything()
        for arguments in [
            ["copy", "Recipes.sqlite", "--keep-in", "kept"],
            ["send", "Recipes.sqlite", "--to", "./a.shipment", "--no-remember"],
        ] {
            let made = try await BuiltProgram.run(arguments + ["-q"], in: desk)
            try #require(made.status == .exited(0), "\(made.stderr)")
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
                environment: shim.environment(
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
