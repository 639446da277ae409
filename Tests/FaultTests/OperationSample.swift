import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A folder with a store and an older copy of it, both with external files: what each operation begins with.
final class OperationSample: Sendable {
    private let scratch: ScratchFolder
    private let template: FilePath
    /// The store, and the copy that was kept before the store was changed.
    private let store: State
    private let copy: State

    /// All that a reader can see of a store.
    private struct State: Equatable, Sendable {
        let rows: [String: [String]]
        let files: [String: Data]

        /// - Returns: `nil` if there is no store.
        init?(of path: FilePath) throws {
            guard (try? PlatformCalls.status(of: path)) != nil else { return nil }
            // As its app opens it, which rolls back what a killed program has begun.
            let queue = try TestStore.open(path)
            rows = try queue.read { try StoreContent($0) }.tables
            try queue.close()
            files = try CoreDataSample.files(beside: path)
        }

        private init(rows: [String: [String]], files: [String: Data]) {
            (self.rows, self.files) = (rows, files)
        }

        /// The same without files that no row refers to.
        func referenced(_ wanted: State) -> State {
            State(rows: rows, files: files.filter { wanted.files[$0.key] != nil })
        }
    }

    struct Place: Sendable {
        let path: FilePath
        let desk: FilePath
        let temporary: FilePath
        var environment: [String: String] { ["TMPDIR": temporary.string] }
    }

    init(in scratch: ScratchFolder) async throws {
        self.scratch = scratch
        template = try scratch.folder("template")
        let sample = try CoreDataSample(at: template.appending("Photos.sqlite"))
        try sample.addEverything()
        for arguments in [["--keep-in", "kept"], ["--to", "copies", "--as", "latest"]] {
            let outcome = try await BuiltProgram.run(["copy", "Photos.sqlite"] + arguments, in: template)
            try #require(outcome.status == .exited(0), "\(outcome.stderr)")
        }
        let kept = try #require(try Folder.names(in: template.appending("kept")).first)
        try PlatformCalls.rename(template.appending("kept/\(kept)"), to: template.appending("copy"))
        try PlatformCalls.removeEmptyFolder(template.appending("kept"))
        copy = try #require(try State(of: template.appending("copy/Photos.sqlite")))
        // Rows and a file go, others come; and some of it is in a log that nobody has moved into the store.
        try PlatformCalls.removeFile(sample.supportFolder.pushing(FilePath(copy.files.keys.sorted()[0])))
        let queue = try TestStore.open(sample.path)
        try await queue.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM ZPHOTO WHERE Z_PK < 64") }
        try queue.close()
        try sample.addPhoto(key: 64, content: Data("new".utf8))
        for name in copy.files.keys { try? PlatformCalls.removeFile(sample.supportFolder.pushing(FilePath(name))) }
        let writer = try TestStore.open(sample.path)
        try await writer.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO ZRECIPE(ZNAME) VALUES ('last')") }
        for ending in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: sample.path.string + ending, toPath: template.appending("saved").string + ending)
        }
        try writer.close()
        for ending in ["", "-wal"] {
            try? PlatformCalls.removeFile(FilePath(sample.path.string + ending))
            try PlatformCalls.rename(
                FilePath(template.appending("saved").string + ending), to: FilePath(sample.path.string + ending))
        }
        let look = try scratch.folder("look")
        try FileManager.default.removeItem(atPath: look.string)
        try FileManager.default.copyItem(atPath: template.string, toPath: look.string)
        store = try #require(try State(of: look.appending("Photos.sqlite")))
    }

    func newPlace(for operation: OperationFaultTests.Operation) throws -> Place {
        let path = try scratch.folder("\(UUID())")
        let place = Place(
            path: path, desk: path.appending("desk"),
            temporary: try scratch.folder("\(path.lastComponent?.string ?? "")/t"))
        try FileManager.default.copyItem(atPath: template.string, toPath: place.desk.string)
        if operation == .restoreRollback {
            let queue = try TestStore.open(place.desk.appending("Photos.sqlite"))
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
            try queue.close()
        }
        return place
    }

    func arguments(_ operation: OperationFaultTests.Operation) -> [String] {
        switch operation {
        case .update: ["copy", "Photos.sqlite", "--to", "copies", "--as", "latest"]
        case .keep: ["copy", "Photos.sqlite", "--keep-in", "kept"]
        case .restore, .restoreRollback: ["restore", "copy", "--over", "Photos.sqlite", "--safety-copies", "safety"]
        case .move: ["move", "Photos.sqlite", "--to", "moved", "--remove-old"]
        case .destroy: ["destroy", "Photos.sqlite"]
        }
    }

    /// Where the operation puts something, and what is there before and after it.
    private func change(_ operation: OperationFaultTests.Operation) -> (path: String, old: State?, new: State?) {
        switch operation {
        case .update: ("copies/latest.sqlite", copy, store)
        case .keep: ("Photos.sqlite", store, store)
        case .restore, .restoreRollback: ("Photos.sqlite", store, copy)
        case .move: ("moved/Photos.sqlite", nil, store)
        case .destroy: ("Photos.sqlite", store, nil)
        }
    }

    func expectOldOrNew(
        _ operation: OperationFaultTests.Operation, in place: Place, succeeded: Bool, _ comment: Comment
    ) throws {
        let (path, old, new) = change(operation)
        // A look at the store must not tidy up for the next run.
        let look = place.path.appending("look")
        try FileManager.default.copyItem(atPath: place.desk.string, toPath: look.string)
        defer { try? Folder.removeTree(at: look) }
        let found = try State(of: look.appending(FilePath(path).components))
        func has(_ state: State?) -> Bool { state.map { found?.referenced($0) == $0 } ?? (found == nil) }
        #expect(has(new) || !succeeded && has(old), comment)
        // A store that moves is somewhere, at each moment.
        if operation == .move, found == nil {
            #expect(try State(of: look.appending("Photos.sqlite")) == store, comment)
        }
        if ![.move, .destroy].contains(operation), operation != .restore, operation != .restoreRollback {
            #expect(try State(of: look.appending("Photos.sqlite")) == store, comment)
        }
        try expectKeptCopiesAreWhole(in: look, comment)
    }

    func expectNew(_ operation: OperationFaultTests.Operation, in place: Place, _ comment: Comment) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: place.desk.string)
        let litter = names.filter { name in
            name.contains("ship-store-")
                || ["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
                    && operation != .update && operation != .keep
        }
        #expect(litter == [], comment)
        if operation == .move || operation == .destroy {
            #expect(!names.contains { $0.hasPrefix("Photos") || $0.hasPrefix(".Photos_SUPPORT") }, comment)
        }
        #expect(try Folder.names(in: place.temporary) == [], comment)
        // A look at a store may tidy up: it comes last.
        let (path, _, new) = change(operation)
        #expect(try State(of: place.desk.appending(FilePath(path).components)) == new, comment)
        try expectKeptCopiesAreWhole(in: place.desk, comment)
    }

    /// Whatever a killed program left, a copy that can be seen is whole.
    private func expectKeptCopiesAreWhole(in desk: FilePath, _ comment: Comment) throws {
        for folder in ["kept", "safety"] {
            for name in (try? Folder.names(in: desk.appending(folder))) ?? [] where name.hasPrefix("Photos-") {
                let kept = try State(of: desk.appending("\(folder)/\(name)/Photos.sqlite"))
                #expect(kept == store || folder == "safety" && kept == copy, comment)
            }
        }
    }
}
