import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// `copy --keep-in` and `copies`: many copies side by side.
@Suite struct KeptCopyTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private func keep(_ options: String...) async throws -> FilePath {
        let outcome = try await desk.run(["copy", "Photos.sqlite", "--keep-in", "kept"] + options).expectSuccess()
        return desk.path.pushing(FilePath(try #require(outcome.lines.first)))
    }

    @Test func `unchanged files are second names for the same file, and each copy is whole`() async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        let uuids = try sample.addEverything()
        let first = try await keep()
        let second = try await keep("--tag", "same")
        try sample.addPhoto(key: 99, content: Data("new".utf8))
        let third = try await keep()
        func inode(_ copy: FilePath, _ file: String) throws -> UInt64 {
            try PlatformCalls.status(of: copy.pushing(FilePath(file))).inode
        }
        let photo = ".Photos_SUPPORT/_EXTERNAL_DATA/\(uuids[0])"
        #expect(try inode(first, photo) == inode(third, photo))
        #expect(try inode(first, photo) != PlatformCalls.status(of: sample.file("_EXTERNAL_DATA", uuids[0])).inode)
        #expect(try inode(first, "Photos.sqlite") == inode(second, "Photos.sqlite"))
        #expect(try inode(first, "Photos.sqlite") != inode(third, "Photos.sqlite"))
        for copy in [first, second, third] { try await desk.run("verify", copy.string).expectSuccess() }
        #expect(try StoreContent(of: third.appending("Photos.sqlite")) == StoreContent(of: sample.path))
        // Removing one leaves the others whole.
        try await desk.run("copies", "--in", "kept", "--prune", "--keep", "1").expectSuccess()
        #expect(
            Set(try Folder.names(in: desk["kept"])) == Set([second, third].compactMap { $0.lastComponent?.string }))
        for copy in [second, third] { try await desk.run("verify", copy.string).expectSuccess() }
        #expect(try desk.leftovers == [])
    }

    @Test func `tags and pairs are listed and found again`() async throws {
        _ = try CoreDataSample(at: desk["Photos.sqlite"])
        _ = try await keep()
        let tagged = try await keep("--tag", "before-import", "--tag", "b", "--meta", "who=me")
        let all = try await desk.run("copies", "--in", "kept", "--json").objects()
        #expect(all.count == 2)
        let found = try await desk.run("copies", "--in", "kept", "--tag", "before-import", "--json").objects()
        #expect(found.map { $0["folder"] as? String } == ["kept/\(tagged.lastComponent?.string ?? "")"])
        #expect(found[0]["tags"] as? [String] == ["b", "before-import"])
        #expect(found[0]["metadata"] as? [String: String] == ["who": "me"])
        #expect(found[0]["identity"] as? String == CoreDataSample.identity)
        try await desk.run("copies", "--in", "kept", "--tag", "none").expectFailure(
            66, "no copy in kept has the tag none", hint: "see `ship-store copies --in kept`")
        try await desk.run("copy", "Photos.sqlite", "--keep-in", "kept", "--tag", "not/that").expectFailure(
            64, "not/that is no tag: 1 to 60 letters, digits, dots, dashes and underscores")
        #expect(try Folder.names(in: desk["kept"]).count == 2)
    }

    @Test func `a copy with a tag is pruned only by its tag`() async throws {
        _ = try CoreDataSample(at: desk["Photos.sqlite"])
        _ = try await keep()
        let tagged = try await keep("--tag", "mine")
        try await desk.run("copies", "--in", "kept", "--prune", "--keep", "0", "--keep-for", "1h").expectSuccess()
        #expect(try Folder.names(in: desk["kept"]).count == 2)
        try await desk.run("copies", "--in", "kept", "--prune", "--keep", "0").expectSuccess()
        #expect(try Folder.names(in: desk["kept"]) == [tagged.lastComponent?.string])
        let outcome = try await desk.run("copies", "--in", "kept", "--prune", "--keep", "0", "--tag", "mine")
        outcome.expectSuccess()
        #expect(outcome.lines.count == 1)
        #expect(try Folder.names(in: desk["kept"]) == [])
    }

    @Test func `a folder that is none is passed over, and a damaged copy does not hide the others`() async throws {
        _ = try CoreDataSample(at: desk["Photos.sqlite"])
        let copy = try await keep()
        for name in ["mine", "Photos-20260101T000000"] { try PlatformCalls.makeFolder(desk["kept/\(name)"]) }
        let outcome = try await desk.run("copies", "--in", "kept")
        #expect(outcome.status == .exited(0))
        #expect(outcome.lines.count == 1 && outcome.lines[0].contains(copy.lastComponent?.string ?? "?"))
        #expect(
            outcome.stderr.contains(
                "kept/Photos-20260101T000000 is damaged: cannot open kept/Photos-20260101T000000/manifest.json"))
        try await desk.shell("cd '\(copy)'; chmod u+w . copy.json; echo > copy.json").expectSuccess()
        let damaged = try await desk.run("copies", "--in", "kept").stderr
        #expect(damaged.contains("; once nothing in it is needed, `rm -r kept/\(copy.lastComponent?.string ?? "")`"))
        #expect(damaged.contains("no sound copy is kept there") && !damaged.contains("yet"), "\(damaged)")
        try await desk.run("copies", "--in", "nowhere").expectFailure(
            66, "cannot list the folder nowhere: No such file or directory", hint: "check the path")
    }
}
