import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// What is done to a store of this device.
enum StoreOperation: String, CaseIterable, Sendable {
    case update, copyAs, keep, prune
    case restore, restoreWithoutSafetyCopy, restoreLost, restoreDamaged
    case move, moveReplacing, metadata, destroy, destroyDamaged

    /// Afterwards the store is there no more.
    var removes: Bool { [.move, .moveReplacing, .destroy, .destroyDamaged].contains(self) }
}

enum JournalMode: String, CaseIterable, Sendable {
    case wal, delete, truncate, persist
}

/// A folder with a store and an older copy of it, both with external files: what each operation begins with.
final class OperationSample: Sendable {
    private let scratch: ScratchFolder
    private let template: FilePath
    /// The store, and the copy that was kept before the store was changed; and the store with metadata.
    private let store: State
    private let copy: State
    private let described: State

    /// All that a reader can see of a store.
    private struct State: Equatable, Sendable {
        let rows: [String: [String]]
        let files: [String: Data]

        /// What SQLite cannot open, or cannot read.
        static let damaged = State(rows: [:], files: [:])

        /// - Returns: `nil` if there is no store.
        init?(of path: FilePath) throws {
            guard (try? PlatformCalls.status(of: path)) != nil else { return nil }
            guard let rows = try? Self.rows(of: path) else {
                self = .damaged
                return
            }
            self.init(rows: rows, files: try CoreDataSample.files(beside: path))
        }

        /// As its app opens it, which rolls back what a killed program has begun.
        private static func rows(of path: FilePath) throws -> [String: [String]] {
            let queue = try TestStore.open(path)
            defer { try? queue.close() }
            return try queue.read { try StoreContent($0) }.tables
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
            try await BuiltProgram.expectSuccess(["copy", "Photos.sqlite"] + arguments, in: template)
        }
        let kept = try #require(try Folder.names(in: template.appending("kept")).first)
        try PlatformCalls.rename(template.appending("kept/\(kept)"), to: template.appending("copy"))
        try PlatformCalls.removeEmptyFolder(template.appending("kept"))
        copy = try #require(try State(of: template.appending("copy/Photos.sqlite")))
        // Rows and a file go, others come; and some of it is in a log that nobody has moved into the store.
        try PlatformCalls.removeFile(sample.supportFolder.pushing(FilePath(copy.files.keys.sorted()[0])))
        try TestStore.make(at: sample.path, sql: "DELETE FROM ZPHOTO WHERE Z_PK < 64")
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
        try await BuiltProgram.expectSuccess(["metadata", "Photos.sqlite", "--set", "kind=test"], in: look)
        described = try #require(try State(of: look.appending("Photos.sqlite")))
    }

    private static let keptCopy = "Photos-20260101T000000"

    func newPlace(for operation: StoreOperation, _ mode: JournalMode = .wal) throws -> Place {
        let path = try scratch.folder("\(UUID())")
        let place = Place(
            path: path, desk: path.appending("desk"),
            temporary: try scratch.folder("\(path.lastComponent?.string ?? "")/t"))
        try FileManager.default.copyItem(atPath: template.string, toPath: place.desk.string)
        let store = place.desk.appending("Photos.sqlite")
        if mode != .wal { try Self.enter(mode, store) }
        func copyItem(_ source: String, _ target: FilePath) throws {
            try FileManager.default.copyItem(
                atPath: place.desk.appending("copy/\(source)").string, toPath: target.string)
        }
        switch operation {
        case .restoreLost:
            for ending in ["", "-wal", "-journal"] { try? PlatformCalls.removeFile(FilePath(store.string + ending)) }
        case .restoreDamaged, .destroyDamaged:
            let file = try FileHandle(forUpdating: URL(filePath: store.string))
            try file.write(contentsOf: Data(repeating: 0xa5, count: 100))
            try file.close()
        case .moveReplacing:
            let folder = place.desk.appending("moved")
            try PlatformCalls.makeFolder(folder)
            try copyItem("Photos.sqlite", folder.appending("Photos.sqlite"))
            try copyItem(".Photos_SUPPORT", folder.appending(".Photos_SUPPORT"))
            try PlatformCalls.changeMode(of: folder.appending("Photos.sqlite"), to: .ownerReadWrite)
            try Self.enter(mode, folder.appending("Photos.sqlite"))
        case .prune:
            try PlatformCalls.makeFolder(place.desk.appending("kept"))
            try copyItem("", place.desk.appending("kept").appending(Self.keptCopy))
        case .update, .copyAs, .keep, .restore, .restoreWithoutSafetyCopy, .move, .metadata, .destroy: break
        }
        return place
    }

    /// With what a writer in that mode leaves beside the store.
    private static func enter(_ mode: JournalMode, _ store: FilePath) throws {
        let queue = try TestStore.open(store)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode = \(mode.rawValue)")
            try database.execute(sql: "UPDATE ZRECIPE SET Z_OPT = Z_OPT")
        }
        try queue.close()
    }

    func arguments(_ operation: StoreOperation) -> [String] {
        let restore = ["restore", "copy", "--over", "Photos.sqlite"]
        return switch operation {
        case .update: ["copy", "Photos.sqlite", "--to", "copies", "--as", "latest"]
        case .copyAs: ["copy", "Photos.sqlite", "--to", "new/copies", "--as", "latest"]
        case .keep: ["copy", "Photos.sqlite", "--keep-in", "kept"]
        case .prune: ["copies", "--in", "kept", "--prune", "--keep", "0"]
        case .restore, .restoreLost, .restoreDamaged: restore + ["--safety-copies", "safety"]
        case .restoreWithoutSafetyCopy: restore + ["--no-safety-copy"]
        case .move: ["move", "Photos.sqlite", "--to", "moved", "--remove-old"]
        case .moveReplacing: ["move", "Photos.sqlite", "--to", "moved", "--remove-old", "--replace"]
        case .metadata: ["metadata", "Photos.sqlite", "--set", "kind=test"]
        case .destroy: ["destroy", "Photos.sqlite"]
        case .destroyDamaged: ["destroy", "Photos.sqlite", "--force"]
        }
    }

    /// Where the operation puts something, and what is there before and after it.
    private func change(_ operation: StoreOperation) -> (path: String, old: State?, new: State?) {
        switch operation {
        case .update: ("copies/latest.sqlite", copy, store)
        case .copyAs: ("new/copies/latest.sqlite", nil, store)
        case .keep: ("Photos.sqlite", store, store)
        case .prune: ("kept/\(Self.keptCopy)/Photos.sqlite", copy, nil)
        case .restore, .restoreWithoutSafetyCopy: ("Photos.sqlite", store, copy)
        case .restoreLost: ("Photos.sqlite", nil, copy)
        case .restoreDamaged: ("Photos.sqlite", .damaged, copy)
        case .move: ("moved/Photos.sqlite", nil, store)
        case .moveReplacing: ("moved/Photos.sqlite", copy, store)
        case .metadata: ("Photos.sqlite", store, described)
        case .destroy: ("Photos.sqlite", store, nil)
        case .destroyDamaged: ("Photos.sqlite", .damaged, nil)
        }
    }

    func expectOldOrNew(
        _ operation: StoreOperation, in place: Place, succeeded: Bool, _ comment: Comment
    ) throws {
        // A look at the store must not tidy up for the next run.
        let look = place.path.appending("look")
        try FileManager.default.copyItem(atPath: place.desk.string, toPath: look.string)
        defer { try? Folder.removeTree(at: look) }
        try expectOldOrNew(operation, at: look, succeeded: succeeded, comment)
    }

    /// Whether a power cut has taken what was acknowledged, or brought back what was removed.
    func isLost(_ operation: StoreOperation, at image: FilePath) throws -> Bool {
        let (path, _, new) = change(operation)
        let found = try State(of: image.appending(FilePath(path).components))
        let names = try FileManager.default.subpathsOfDirectory(atPath: image.string)
        let isBack =
            operation.removes && names.contains { $0.hasPrefix(".ship-store-") && $0.hasSuffix("/Photos.sqlite") }
        return isBack || (new.map { found?.referenced($0) != $0 } ?? (found != nil))
    }

    private func expectOldOrNew(
        _ operation: StoreOperation, at look: FilePath, succeeded: Bool, _ comment: Comment
    ) throws {
        let (path, old, new) = change(operation)
        let found = try State(of: look.appending(FilePath(path).components))
        func has(_ state: State?) -> Bool { state.map { found?.referenced($0) == $0 } ?? (found == nil) }
        #expect(has(new) || !succeeded && has(old), comment)
        // A store that moves is somewhere, at each moment.
        let isMoving = [.move, .moveReplacing].contains(operation) && !has(new)
        if isMoving || [.update, .copyAs, .keep, .prune].contains(operation) {
            #expect(try State(of: look.appending("Photos.sqlite")) == store, comment)
        }
        try expectKeptCopiesAreWhole(in: look, comment)
    }

    func expectNew(_ operation: StoreOperation, in place: Place, _ comment: Comment) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: place.desk.string)
        let litter = names.filter { name in
            // Where a call failed that was to remove it, the next command that works there does.
            name.contains("ship-store-") && !name.contains("-safety/")
                || ["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
                    && ![.update, .copyAs, .keep, .prune, .restoreDamaged].contains(operation)
        }
        #expect(litter == [], comment)
        if operation.removes {
            #expect(!names.contains { $0.hasPrefix("Photos") }, comment)
            // The files of what SQLite cannot read stay.
            #expect(operation == .destroyDamaged || !names.contains { $0.hasPrefix(".Photos_SUPPORT") }, comment)
        }
        #expect(try Folder.names(in: place.temporary) == [], comment)
        // A look at a store may tidy up: it comes last.
        let (path, _, new) = change(operation)
        let found = try State(of: place.desk.appending(FilePath(path).components))
        // Files of the old state are nobody's where nothing keeps that, and the next run finds the new one.
        let mayHaveMore = [.update, .restoreLost, .restoreDamaged, .moveReplacing].contains(operation)
        #expect((mayHaveMore ? new.flatMap { found?.referenced($0) } : found) == new, comment)
        try expectKeptCopiesAreWhole(in: place.desk, comment)
    }

    /// - Parameter image: What a power cut has left after the operation was acknowledged.
    func expectNew(_ operation: StoreOperation, at image: FilePath, _ comment: Comment) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: image.string)
        if operation.removes || operation == .prune {
            let isBack = names.contains { $0.hasPrefix(".ship-store-") && $0.hasSuffix("/Photos.sqlite") }
            #expect(!isBack && !names.contains(".Photos.sqlite.restoring"), "\(comment) what was removed is there")
        }
        switch operation {
        case .keep, .restore:
            let folder = operation == .keep ? "kept" : "safety"
            #expect(names.contains { $0.hasPrefix("\(folder)/") && $0.hasSuffix("/Photos.sqlite") }, comment)
        case .restoreDamaged:
            let kept = names.first { $0.hasPrefix("Photos.sqlite.damaged-") && $0.hasSuffix("/Photos.sqlite") }
            let bytes = FileManager.default.contents(atPath: image.appending(kept ?? "").string)
            #expect(bytes?.first == 0xa5, "\(comment) the damaged store is lost")
        default: break
        }
        try expectOldOrNew(operation, at: image, succeeded: true, comment)
    }

    /// Whatever a killed program left, a copy that can be seen is whole.
    private func expectKeptCopiesAreWhole(in desk: FilePath, _ comment: Comment) throws {
        for folder in ["kept", "safety"] {
            for name in (try? Folder.names(in: desk.appending(folder))) ?? [] where name.hasPrefix("Photos-") {
                let kept = try State(of: desk.appending("\(folder)/\(name)/Photos.sqlite"))
                #expect(kept == store || kept == copy, comment)
            }
        }
    }
}
