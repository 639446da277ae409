import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// The disk is full before a restore is done: the store is as it was, what is left behind is told, and the next restore uses
/// or removes it.
@Suite(.enabled("may not mount a tmpfs") { await SmallDisk.isAvailable() })
struct RestoreOnFullDiskTests {
    private let scratch: ScratchFolder
    private let template: FilePath
    private let copy: FilePath

    init() async throws {
        scratch = try ScratchFolder()
        template = try scratch.folder("template")
        let sample = try CoreDataSample(at: template.appending("Photos.sqlite"))
        try sample.addEverything()
        let queue = try TestStore.open(sample.path)
        try await queue.writeWithoutTransaction {
            try $0.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                    INSERT INTO ZRECIPE(ZNAME, ZNOTE) SELECT 'Soup ' || i, randomblob(900) FROM n
                    """)
        }
        let folder = scratch.path.appending("kept")
        let kept = try await BuiltProgram.run(["copy", sample.path.string, "--keep-in", folder.string])
        copy = FilePath(try #require(kept.lines.first, "\(kept.stderr)"))
        // The store goes on without the external files that the copy has.
        try await queue.writeWithoutTransaction {
            try $0.execute(sql: "DELETE FROM ZPHOTO; UPDATE ZRECIPE SET ZNOTE = randomblob(900)")
        }
        try queue.close()
        try Folder.removeTree(at: sample.supportFolder)
    }

    /// All below a folder, but for what is of no size.
    private func names(in folder: FilePath) throws -> Set<String> {
        Set(try FileManager.default.subpathsOfDirectory(atPath: folder.string))
    }

    /// Makes a file that takes all room but so many bytes.
    private func fill(_ disk: FilePath, leaving free: Int64) throws {
        let filler = try OpenFile.creating(disk.appending("filler"))
        while try PlatformCalls.freeSpace(around: disk) > free {
            try filler.write([UInt8](repeating: 1, count: 65536))
        }
    }

    @Test(arguments: ["WAL", "DELETE"])
    func `what is left is told, and the next restore uses or removes it`(mode: String) async throws {
        let store = template.appending("Photos.sqlite")
        try TestStore.make(at: store, sql: "PRAGMA journal_mode = \(mode)")
        let (before, after) = (try StoreContent(of: store), try StoreContent(of: copy.appending("Photos.sqlite")))
        let files = try CoreDataSample.files(beside: copy.appending("Photos.sqlite"))
        for ending in ["-wal", "-shm"] { try? PlatformCalls.removeFile(FilePath(store.string + ending)) }
        var failures = 0
        for free in stride(from: Int64(200_000), through: 8_000_000, by: Soak.isOn ? 50_000 : 400_000) {
            let failed = try await SmallDisk.with(size: "16m") { disk in
                let desk = disk.appending("desk")
                try FileManager.default.copyItem(atPath: template.string, toPath: desk.string)
                let there = try names(in: desk)
                try fill(disk, leaving: free)
                let live = desk.appending("Photos.sqlite")
                let arguments = ["restore", copy.string, "--over", live.string]
                let outcome = try await BuiltProgram.run(arguments)
                let comment: Comment = "\(free) bytes free: \(outcome.stderr)"
                guard outcome.status != .exited(0) else { return false }
                #expect(outcome.status == .exited(73), comment)
                let left = try names(in: desk).subtracting(there).filter { name in
                    // Folders that hold nothing but what is told, and the note for the next restore.
                    !name.hasSuffix("_SUPPORT") && !name.hasSuffix("_EXTERNAL_DATA") && !name.hasSuffix("_FBF")
                        && name != ".Photos-safety" && !name.hasSuffix(".restoring") && !name.hasSuffix("-wal")
                        && !name.hasSuffix("-shm") && !name.hasSuffix(".lock")
                }
                for name in left {
                    if name.hasPrefix(".Photos-safety/Photos-") {
                        #expect(
                            outcome.stderr.contains(name.split(separator: "/").prefix(2).joined(separator: "/")),
                            comment)
                    } else {
                        #expect(
                            name.hasPrefix(".Photos_SUPPORT/") && outcome.stderr.contains("new external file"),
                            "\(name): \(comment)")
                    }
                }
                try PlatformCalls.removeFile(disk.appending("filler"))
                #expect(try StoreContent(of: live) == before, comment)
                let again = try await BuiltProgram.run(arguments)
                #expect(again.status == .exited(0), "\(again.stderr) after \(comment)")
                #expect(try StoreContent(of: live) == after, comment)
                #expect(try CoreDataSample.files(beside: live) == files, comment)
                let safety = try Folder.names(in: desk.appending(".Photos-safety")).filter { $0.hasPrefix("Photos-") }
                #expect(safety.count == 1, "\(safety) \(comment)")
                #expect(
                    !(try names(in: desk)).contains { $0.hasSuffix(".restoring") || $0.contains("ship-store-") },
                    comment)
                return true
            }
            guard failed else { break }
            failures += 1
        }
        #expect(failures > 2, "the disk was never too small")
    }
}
