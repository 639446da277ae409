import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A name proves nothing: what is only called as a sidecar, a support folder or a safety copy of a store is left as it is.
@Suite struct ProvenOwnershipTests {
    private let desk: Desk
    private let store: FilePath

    init() throws {
        desk = try Desk()
        store = desk["Photos.sqlite"]
    }

    private func write(_ bytes: Data, to path: FilePath) throws {
        try bytes.write(to: URL(fileURLWithPath: path.string))
    }

    /// Every name and every byte; folders in which something came and went have other times.
    private func content() throws -> [String: String] {
        let entries = try FolderListing(of: desk.path).entries
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0.sha256 ?? "no file") })
    }

    private func bytes(_ path: FilePath) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path.string)) }

    /// Keeps a copy of a Core Data store with external files.
    private func keepCopy() async throws -> (sample: CoreDataSample, copy: String, uuids: [String]) {
        let sample = try CoreDataSample(at: store)
        let uuids = try sample.addEverything()
        let kept = try await desk.run("copy", "Photos.sqlite", "--keep-in", "kept").expectSuccess()
        for ending in ["-wal", "-shm"] { try? PlatformCalls.removeFile(FilePath("\(store)\(ending)")) }
        return (sample, try #require(kept.lines.first), uuids)
    }

    // MARK: Sidecars

    @Test(arguments: ["-wal", "-journal", "-shm"])
    func `a store that is called as a sidecar of a broken one stays, and is told`(ending: String) async throws {
        let (_, copy, _) = try await keepCopy()
        try write(Data(repeating: 0, count: 4096), to: store)
        let other = try desk.makeStore("Photos.sqlite\(ending)")
        let rows = try StoreContent(of: other)
        let before = try content()
        for arguments in [
            ["destroy", "Photos.sqlite", "--force"], ["restore", copy, "--over", "Photos.sqlite"],
        ] {
            try await desk.run(arguments).expectFailure(
                73, "\(other) has the name of a part of \(store), and SQLite takes it for one",
                hint: "if it is a store, give it another name; if it is a part of \(store), name that")
            #expect(try content() == before)
        }
        try PlatformCalls.removeFile(store)
        let outcome = try await desk.run("restore", copy, "--over", "Photos.sqlite")
        #expect(outcome.status == .exited(73), "\(outcome.stderr)")
        #expect(try StoreContent(of: other) == rows)
    }

    @Test func `a store that is called as a neighbour's sidecar keeps its external files`() async throws {
        let (sample, _, _) = try await keepCopy()
        try desk.makeStore("Photos.db")
        let other = try CoreDataSample(at: desk["Photos.db-wal"])
        let uuid = try other.addPhoto(key: 7, content: Data("neighbour".utf8))
        try sample.add(key: 99, cell: CoreDataSample.reference(2, uuid))
        let outcome = try await desk.run("destroy", "Photos.sqlite")
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(try CoreDataSample.files(beside: store)["_EXTERNAL_DATA/\(uuid)"] == Data("neighbour".utf8))
    }

    @Test(arguments: ["-wal", "-journal", "-shm"])
    func `a part of a store is no store`(ending: String) async throws {
        try desk.makeStore("Tea.sqlite")
        try desk.makeStore()
        let part = desk["Tea.sqlite\(ending)"]
        for bytes in [nil, [], Array(repeating: UInt8(0), count: 32768)] as [[UInt8]?] {
            if let bytes { try write(Data(bytes), to: part) }
            // SQLite removes the last one itself, with the last reader of the store.
            func content() throws -> [String: String] {
                try self.content().filter { ending != "-shm" || !$0.key.hasSuffix(ending) }
            }
            let before = try content()
            for arguments in [
                ["destroy", part.string, "--force"], ["restore", "Recipes.sqlite", "--over", part.string],
            ] {
                let outcome = try await desk.run(arguments)
                #expect(outcome.status != .exited(0), "\(arguments): \(outcome.stderr)")
                #expect(try content() == before, "\(arguments)")
            }
        }
    }

    // MARK: Neighbours' bytes

    @Test(arguments: [true, false])
    func `an external file that a neighbour refers to is never replaced`(isLost: Bool) async throws {
        let (_, copy, uuids) = try await keepCopy()
        let neighbour = try CoreDataSample(at: desk["Photos.db"])
        try neighbour.add(key: 7, cell: CoreDataSample.reference(2, uuids[0]))
        if isLost { try PlatformCalls.removeFile(store) }
        let file = neighbour.file("_EXTERNAL_DATA", uuids[0])
        try write(Data("the neighbour's".utf8), to: file)
        for ending in ["-wal", "-shm"] { try? PlatformCalls.removeFile(FilePath("\(neighbour.path)\(ending)")) }
        let before = try content()
        try await desk.run("restore", copy, "--over", "Photos.sqlite").expectFailure(
            73, "\(desk[".Photos_SUPPORT"]) is the folder of external files of \(neighbour.path)",
            hint: "choose a name of another stem: one that differs before its extension")
        #expect(try content() == before)
        #expect(try bytes(file) == Data("the neighbour's".utf8))
    }

    // MARK: Links

    /// What is to be put into a folder that is a link to another store's.
    @Test(arguments: [
        ["restore", "COPY", "--over", "g/Photos.sqlite"], ["restore", "COPY", "--over", "g/Photos.sqlite", "LOST"],
        ["copy", "Photos.sqlite", "--to", "g", "--as", "Photos"], ["move", "Photos.sqlite", "--to", "g", "FREE"],
    ])
    func `nothing is put through a link in the place of a support folder`(words: [String]) async throws {
        let (sample, copy, uuids) = try await keepCopy()
        try PlatformCalls.makeFolder(desk["g"])
        if words[0] == "copy" {
            // Only a copy is replaced by a newer one: an app's store is never taken for one.
            try await desk.run(words).expectSuccess()
            try FileManager.default.removeItem(atPath: desk["g/.Photos_SUPPORT"].string)
        } else {
            try FileManager.default.copyItem(atPath: store.string, toPath: desk["g/Photos.sqlite"].string)
        }
        if words.contains("LOST") { try write(Data(repeating: 1, count: 4096), to: desk["g/Photos.sqlite"]) }
        if words.contains("FREE") { try PlatformCalls.removeFile(desk["g/Photos.sqlite"]) }
        let elsewhere = try CoreDataSample(at: desk["elsewhere.sqlite"])
        try elsewhere.addPhoto(key: 1, content: Data("another's".utf8), uuid: uuids[0])
        try PlatformCalls.symbolicLink(at: desk["g/.Photos_SUPPORT"], to: "../.elsewhere_SUPPORT")
        for path in [elsewhere.path, sample.path] {
            for ending in ["-wal", "-shm"] { try? PlatformCalls.removeFile(FilePath("\(path)\(ending)")) }
        }
        let before = try content()
        let arguments = words.filter { !["LOST", "FREE"].contains($0) }.map { $0 == "COPY" ? copy : $0 }
        try await desk.run(arguments).expectFailure(
            73,
            "\(arguments[0] == "copy" ? "g" : desk["g"].string)/.Photos_SUPPORT is a symbolic link: "
                + "what it leads to may be another store's, and no external files are put there",
            hint: "put the folder itself in its place")
        #expect(try content() == before)
    }

    // MARK: Safety copies

    @Test func `what only another store's safety copy lists is not taken for this one's`() async throws {
        let (sample, copy, uuids) = try await keepCopy()
        // A duplicate of the store in another folder, with its own app.
        try PlatformCalls.makeFolder(desk["b"])
        let twin = CoreDataSample(desk["b/Photos.sqlite"])
        for (from, to) in [(store, twin.path), (sample.supportFolder, twin.supportFolder)] {
            try FileManager.default.copyItem(atPath: from.string, toPath: to.string)
        }
        let restore = ["restore", copy, "--over", "Photos.sqlite", "--safety-copies", "safety"]
        try await desk.run(restore).expectSuccess()
        // The twin has a file on its way into its rows, of which that safety copy has one of the same name.
        let queue = try TestStore.open(twin.path)
        try await queue.writeWithoutTransaction {
            try $0.execute(sql: "DELETE FROM ZPHOTO WHERE instr(ZDATA, ?)", arguments: [uuids[0]])
        }
        try queue.close()
        let own = try await desk.run("copy", "b/Photos.sqlite", "--keep-in", "b-kept")
        let pending = twin.file("_EXTERNAL_DATA", uuids[0])
        let content = try bytes(pending)
        try await desk.run(
            "restore", try #require(own.lines.first), "--over", "b/Photos.sqlite", "--safety-copies", "safety"
        ).expectSuccess()
        #expect((try? bytes(pending)) == content)
    }

    // MARK: Empty folders

    @Test func `an empty folder that has the very name of a damaged store's is another's`() async throws {
        _ = try await keepCopy()
        let mine = desk["Photos.sqlite.damaged-by-me"]
        try PlatformCalls.makeFolder(mine)
        try PlatformCalls.removeFile(store)
        try await desk.run("restore", "kept", "--over", "Photos.sqlite").expectFailure(
            66, "there is no copy at kept", hint: "name a kept copy's folder, a generation's, or a store")
        let copy = try #require(try Folder.names(in: desk["kept"]).first)
        try await desk.run("restore", "kept/\(copy)", "--over", "Photos.sqlite").expectSuccess()
        #expect(try PlatformCalls.status(of: mine).kind == .folder)
    }

    // MARK: What is in the way

    @Test func `a file that no row of the store has is not replaced by one of the copy`() async throws {
        let (sample, copy, uuids) = try await keepCopy()
        let uuid = try #require(try CoreDataSample.files(beside: store).keys.sorted().first)
        #expect(uuids.contains { uuid.hasSuffix($0) })
        try await desk.run("destroy", "Photos.sqlite").expectSuccess()
        _ = sample
        let other = try CoreDataSample(at: store)
        _ = try other.addPhoto(key: 3, content: Data("its own".utf8))
        let path = FilePath("\(desk[".Photos_SUPPORT"])/\(uuid)")
        try write(Data("precious".utf8), to: path)
        let before = try content()
        try await desk.run("restore", copy, "--over", "Photos.sqlite").expectFailure(
            73, "\(path) is in the way: nothing shows that it is an older copy", hint: "move it away")
        // A folder for files of the copy may stay, empty.
        #expect(try content().filter { before[$0.key] != $0.value && $0.value != "no file" } == [:])
        try PlatformCalls.removeFile(path)
        try await desk.run("restore", copy, "--over", "Photos.sqlite").expectSuccess()
    }

    @Test func `a move that fails leaves empty folders that were there`() async throws {
        _ = try await keepCopy()
        for folder in [".Photos_SUPPORT/sub", "d/.Photos_SUPPORT/sub/empty"] {
            try FileManager.default.createDirectory(
                atPath: desk[folder].string, withIntermediateDirectories: true)
        }
        try write(Data("one".utf8), to: desk[".Photos_SUPPORT/sub/note"])
        try write(Data("one".utf8), to: desk[".Photos_SUPPORT/zz"])
        try write(Data("another".utf8), to: desk["d/.Photos_SUPPORT/zz"])
        let before = try content()
        try await desk.run("move", "Photos.sqlite", "--to", "d").expectFailure(
            73, "\(desk["d/.Photos_SUPPORT/zz"]) is in the way: nothing shows that it is an older copy",
            hint: "move it away")
        #expect(try content() == before)
    }
}
