import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A copy that nobody would take is refused where it is made; `--damaged` keeps it as evidence, and says everywhere that it is that.
@Suite struct DamagedEvidenceTests {
    private let desk: Desk
    private let store: FilePath
    private let whole: StoreContent

    /// A sound copy is kept; then the store's index loses its rows.
    init() async throws {
        desk = try Desk()
        store = try desk.makeStore("Notes.sqlite", rows: 50)
        whole = try StoreContent(of: store)
        try await desk.run("copy", "Notes.sqlite", "--keep-in", "kept", "-q").expectSuccess()
        let queue = try TestStore.open(store)
        let (root, size) = try await queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode = DELETE")
            return (
                try Int.fetchOne(database, sql: "SELECT rootpage FROM sqlite_schema WHERE type = 'index'") ?? 0,
                try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
            )
        }
        try queue.close()
        // An empty leaf of an index [sqlite.org/fileformat2.html section 1.6].
        let page = Data([0x0a, 0, 0, 0, 0, UInt8(size >> 8), UInt8(size & 0xff), 0]) + Data(count: size - 8)
        var bytes = try Data(contentsOf: URL(filePath: store.string))
        bytes.replaceSubrange((root - 1) * size..<root * size, with: page)
        try bytes.write(to: URL(filePath: store.string))
    }

    private func keepDamaged() async throws -> String {
        let kept = try await desk.run("copy", "Notes.sqlite", "--keep-in", "kept", "--damaged")
        #expect(kept.status == .exited(0))
        #expect(kept.stderr.contains("warning: Notes.sqlite is damaged: "), "\(kept.stderr)")
        return try #require(kept.lines.first)
    }

    @Test func `a copy of a damaged store is kept only if that is wanted`() async throws {
        for arguments in [["--keep-in", "kept"], ["--to", "out", "--as", "a"]] {
            let refused = try await desk.run(["copy", "Notes.sqlite"] + arguments)
            #expect(refused.status == .exited(65), "\(refused.stderr)")
            let kept = try await desk.run(["copy", "Notes.sqlite", "--damaged", "--json"] + arguments)
            #expect(kept.status == .exited(0), "\(kept.stderr)")
            #expect(try kept.objects()[0]["damage"] is String)
        }
        let copy = "kept/\(try soundName())/Notes.sqlite"
        let sound = try await desk.run("copy", copy, "--to", "out", "--damaged", "--json")
        #expect(try sound.objects()[0]["damage"] == nil)
    }

    private func soundName() throws -> String { try #require(try Folder.names(in: desk["kept"]).first) }

    @Test func `it is listed as that, and does not count when copies are pruned`() async throws {
        let damaged = try await keepDamaged()
        let listed = try await desk.run("copies", "--in", "kept", "--json").objects()
        #expect(listed.map { $0["damage"] is String } == [false, true])
        let words = try await desk.run("copies", "--in", "kept")
        #expect(words.lines.last?.contains("  damaged: ") == true, "\(words.lines)")
        // It is the newest, and the sound one is what stays all the same.
        try await desk.run("copies", "--in", "kept", "--prune", "--keep", "1").expectSuccess()
        #expect(try Folder.names(in: desk["kept"]).count == 2)
        try await desk.run("copies", "--in", "kept", "--prune", "--keep", "0").expectSuccess()
        #expect(try Folder.names(in: desk["kept"]).map { "kept/\($0)" } == [damaged])
    }

    @Test(arguments: [false, true])
    func `it is restored only by who says so, over a store or where one was lost`(isLost: Bool) async throws {
        let damaged = try await keepDamaged()
        let sound = "kept/\(try soundName())"
        try await desk.run("restore", sound, "--over", "Notes.sqlite", "-q").expectSuccess()
        if isLost { try PlatformCalls.removeFile(store) }
        let refused = try await desk.run("restore", damaged, "--over", "Notes.sqlite", "-q")
        #expect(refused.status == .exited(65))
        let words = "\(damaged) is a copy of a damaged store, kept as evidence"
        #expect(refused.stderr.contains(words), "\(refused.stderr)")
        #expect(refused.stderr.contains("--damaged takes this one all the same"))
        if !isLost { #expect(try StoreContent(of: store) == whole) }
        try await desk.run("restore", damaged, "--over", "Notes.sqlite", "--damaged", "-q").expectSuccess()
        let queue = try TestStore.open(store)
        let complaints = try await queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
        try queue.close()
        #expect(complaints != ["ok"])
        // And back again.
        try await desk.run("restore", sound, "--over", "Notes.sqlite", "-q").expectSuccess()
        #expect(try StoreContent(of: store) == whole)
    }
}
