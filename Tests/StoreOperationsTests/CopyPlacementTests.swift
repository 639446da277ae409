import Foundation
import ShipProtocol
import StoreFiles
import StoreOperations
import SystemPackage
import TestSupport
import Testing

@Suite struct CopyPlacementTests {
    private let scratch: ScratchFolder
    private let store: FilePath
    private let folder: FilePath
    private let files: [(name: ExternalFileName, path: FilePath)]

    init() throws {
        scratch = try ScratchFolder()
        let source = try scratch.folder("source")
        store = source.appending("copy")
        try OpenFile.creating(store).write(Array(repeating: 7, count: 2_500_000))
        folder = scratch.path.appending("backups").appending("of today")
        files = try zip(ExternalFileName.Folder.allCases, ["A", "B"]).map { place, digit in
            let uuid = "00000000-0000-0000-0000-00000000000\(digit)"
            let path = source.appending(digit)
            try OpenFile.creating(path).write(Array(digit.utf8))
            return (try #require(ExternalFileName(folder: place, uuid: uuid)), path)
        }
    }

    private func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: "\(folder)/\(name)").map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `the copy, its files and nothing else are there; the source is as it was`() throws {
        let before = try FolderListing(of: store.removingLastComponent())
        let placement = CopyPlacement(in: folder, name: "Recipes-1")
        let path = try placement.place(store: store, externalFiles: files)
        #expect(path == folder.appending("Recipes-1.sqlite"))
        #expect(try ContentDigest(ofFile: path) == ContentDigest(ofFile: store))
        #expect(text(".Recipes-1_SUPPORT/_EXTERNAL_DATA/00000000-0000-0000-0000-00000000000A") == "A")
        #expect(text(".Recipes-1_SUPPORT/_FBF/00000000-0000-0000-0000-00000000000B") == "B")
        #expect(try Folder.names(in: folder) == [".Recipes-1_SUPPORT", "Recipes-1.sqlite"])
        #expect(try FolderListing(of: store.removingLastComponent()) == before)
    }

    @Test func `a copy without files has no support folder`() throws {
        _ = try CopyPlacement(in: folder, name: "Recipes-1").place(store: store, externalFiles: [])
        #expect(try Folder.names(in: folder) == ["Recipes-1.sqlite"])
    }

    @Test func `a copy of that name is not replaced: the next is numbered`() throws {
        let placement = CopyPlacement(in: folder, name: "Recipes-1")
        let first = try placement.place(store: store, externalFiles: files)
        let (content, support) = try (
            FolderListing(of: folder.appending(".Recipes-1_SUPPORT")), ContentDigest(ofFile: first)
        )
        #expect(try placement.place(store: store, externalFiles: files) == folder.appending("Recipes-1-2.sqlite"))
        #expect(text(".Recipes-1-2_SUPPORT/_EXTERNAL_DATA/00000000-0000-0000-0000-00000000000A") == "A")
        // The files of one that lost its store are somebody's, too, and so is a store that has no files.
        try PlatformCalls.removeFile(folder.appending("Recipes-1-2.sqlite"))
        try OpenFile.creating(folder.appending("Recipes-1-3.sqlite")).write([1])
        #expect(try placement.place(store: store, externalFiles: []) == folder.appending("Recipes-1-4.sqlite"))
        #expect(try placement.place(store: store, externalFiles: files) == folder.appending("Recipes-1-5.sqlite"))
        #expect(try FolderListing(of: folder.appending(".Recipes-1_SUPPORT")) == content)
        #expect(try ContentDigest(ofFile: first) == support)
        #expect(try OpenFile.reading(folder.appending("Recipes-1-3.sqlite")).read(9, at: 0) == [1])
        #expect(
            try Folder.names(in: folder) == [
                ".Recipes-1-2_SUPPORT", ".Recipes-1-5_SUPPORT", ".Recipes-1_SUPPORT", "Recipes-1-3.sqlite",
                "Recipes-1-4.sqlite", "Recipes-1-5.sqlite", "Recipes-1.sqlite",
            ])
    }

    @Test func `copies that are placed at once get a name each`() async throws {
        let placement = CopyPlacement(in: folder, name: "Recipes-1")
        let paths = try await withThrowingTaskGroup(of: FilePath.self) { group in
            for _ in 0..<6 {
                group.addTask { [store, files] in try placement.place(store: store, externalFiles: files) }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(paths.count == 6)
        #expect(try Folder.names(in: folder).count == 12)
        for path in paths {
            #expect(text(".\(path.stem ?? "")_SUPPORT/_FBF/00000000-0000-0000-0000-00000000000B") == "B")
        }
    }

    @Test func `all of it or nothing`() throws {
        func isThere() throws -> Bool { try PlatformCalls.isThere(folder) }
        let placement = CopyPlacement(in: folder, name: "Recipes-1")
        try PlatformCalls.removeFile(files[1].path)
        #expect(throws: FileError(.open, files[1].path, .noSuchFileOrDirectory)) {
            _ = try placement.place(store: store, externalFiles: files)
        }
        // Nor the folder that it has made.
        #expect(try !isThere())
        try Folder.make(folder)
        #expect(throws: FileError(.open, "nowhere", .noSuchFileOrDirectory)) {
            _ = try placement.place(store: "nowhere", externalFiles: [])
        }
        #expect(try Folder.names(in: folder) == [])
    }

    @Test(.enabled("may not mount a tmpfs") { await SmallDisk.isAvailable() })
    func `a full disk is left empty`() async throws {
        try await SmallDisk.with(size: "1m") { disk throws in
            let error = #expect(throws: FileError.self) {
                try CopyPlacement(in: disk, name: "Recipes-1").place(store: store, externalFiles: files)
            }
            #expect(error?.isOutOfSpace == true)
            #expect(try Folder.names(in: disk) == [])
        }
    }

    @Test func `a folder that is a file is said`() throws {
        _ = try OpenFile.creating(scratch.path.appending("backups"))
        #expect(throws: FileError.self) {
            try CopyPlacement(in: folder, name: "a").place(store: store, externalFiles: [])
        }
    }
}
