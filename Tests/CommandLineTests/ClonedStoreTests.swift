import Foundation
import SystemPackage
import TestSupport
import Testing

/// On a file system that clones, a change costs what changed on both disks as well.
@Suite(.enabled("may not mount a btrfs of its own") { await LoopDisk.isAvailable(.btrfs) })
struct ClonedStoreTests {
    @Test func `what has not changed stays where it is on both disks`() async throws {
        let place = try ScratchFolder()
        let disk = try await LoopDisk(in: place.path, .btrfs)
        do {
            let desk = try Desk(in: ScratchFolder(in: disk.path))
            try TestStore.make(
                at: desk["Large.sqlite"],
                sql: """
                    CREATE TABLE line(id INTEGER PRIMARY KEY, words TEXT);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                    INSERT INTO line SELECT i, hex(randomblob(50)) FROM n
                    """)
            let receiver = try await desk.listen()
            func send() async throws -> [Set<Int>] {
                try await desk.run("send", "Large.sqlite", "--to", receiver.address).expectSuccess()
                #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
                try await desk.run("verify", "inbox").expectSuccess()
                return [
                    try await blocks(of: desk["inbox/Large.sqlite"]), try await blocks(of: remembered(in: desk)),
                ]
            }
            var before = try await send()
            for (change, most) in [
                ("UPDATE line SET words = hex(randomblob(50)) WHERE id = 9000", 4),
                ("DELETE FROM line WHERE id > 15000", 4),
                ("INSERT INTO line SELECT id + 20000, hex(randomblob(50)) FROM line LIMIT 8000", 240),
            ] {
                try TestStore.make(at: desk["Large.sqlite"], sql: change)
                let after = try await send()
                for (after, before) in zip(after, before) {
                    #expect(after.count > 400)
                    #expect(after.subtracting(before).count <= most, "\(change)")
                }
                before = after
            }
            #expect(try await receiver.stop().status == .exited(0))
            #expect(try desk.leftovers == [])
        }
        try await disk.remove()
    }

    /// The copy that the sender remembers.
    private func remembered(in desk: Desk) throws -> FilePath {
        let objects = desk.memory.appending("objects")
        let sizes = try FileManager.default.contentsOfDirectory(atPath: objects.string).map { name in
            let path = objects.appending(name)
            return (path, try FileManager.default.attributesOfItem(atPath: path.string)[.size] as? Int ?? 0)
        }
        return try #require(sizes.max { $0.1 < $1.1 }).0
    }

    /// The blocks of the disk that a file is in.
    private func blocks(of path: FilePath) async throws -> Set<Int> {
        let outcome = try await ChildProgram("/usr/bin/env", ["filefrag", "-s", "-v", path.string]).wait()
        outcome.expectSuccess()
        var blocks: Set<Int> = []
        for line in outcome.lines {
            // "   0:        0..     449:       3456..      3905:    450:             last,eof"
            let fields = line.split(separator: ":").map { $0.trimmingCharacters(in: .whitespaces) }
            guard fields.count >= 4, Int(fields[0]) != nil, let count = Int(fields[3]),
                let first = Int(fields[2].prefix { $0.isNumber })
            else { continue }
            blocks.formUnion(first..<(first + count))
        }
        return blocks
    }
}
