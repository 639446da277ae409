import Foundation
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import StoreBases

/// Nothing that is damaged is ever used, and nothing is removed that is not ours.
@Suite struct DamagedMemoryTests {
    private let scratch: ScratchFolder
    private let memory: BaseMemory
    private let key = BaseKey()

    init() throws {
        scratch = try ScratchFolder()
        memory = BaseMemory(at: scratch.path.appending("bases"))
    }

    private func exists(_ path: FilePath) -> Bool { (try? PlatformCalls.status(of: path)) != nil }

    private func expectForgotten(_ copy: RememberedCopy, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(copy.open() == nil, sourceLocation: sourceLocation)
        #expect(memory.copies(of: key).isEmpty, sourceLocation: sourceLocation)
        #expect(try memory.records().isEmpty, sourceLocation: sourceLocation)
        #expect(
            try Acknowledged("next").remember(in: memory, as: key) == .remembered, sourceLocation: sourceLocation)
        #expect(try memory.onlyCopy(of: key).open() != nil, sourceLocation: sourceLocation)
    }

    @Test func `a memory that cannot be read offers no external file, and fails nothing for it`() throws {
        let copy = try Acknowledged("soup", files: [[1, 2, 3]])
        try copy.remember(in: memory, as: BaseKey())
        let place = try scratch.folder("place")
        let file = place.appending("external")
        try OpenFile.creating(file).write([1, 2, 3])
        let parts = [(part: copy.manifest.parts[1], path: file)]
        #expect(memory.offers(parts, in: place).count == 1)
        try Data("no index".utf8).write(to: URL(fileURLWithPath: memory.folder.appending("index.json").string))
        #expect(memory.offers(parts, in: place).isEmpty)
        // No disk can be asked for its free space where there is no folder.
        let none = BaseMemory(at: scratch.path.appending("none"))
        #expect(none.offers(parts, in: place).isEmpty)
    }

    @Test func `a copy with a flipped bit is not used, and goes`() throws {
        try Acknowledged("soup", pages: 3).remember(in: memory, as: key)
        let copy = try memory.onlyCopy(of: key)
        let file = try FileDescriptor.open(copy.record.path, .readWrite)
        try file.writeAll(toAbsoluteOffset: 1000, [1])
        try file.close()
        try expectForgotten(copy)
        #expect(!exists(copy.record.path))
        #expect(memory.objectNames.count == 2)
    }

    @Test func `an external file with a flipped bit is not used, and goes alone`() throws {
        let files = [[UInt8](repeating: 1, count: 900), [UInt8](repeating: 2, count: 800)]
        try Acknowledged("soup", files: files).remember(in: memory, as: key)
        let copy = try memory.onlyCopy(of: key)
        #expect(copy.files == copy.manifest.externalFiles && memory.objectNames.count == 4)
        let path = try #require(copy.open(copy.files[0])).path
        let file = try FileDescriptor.open(path, .readWrite)
        try file.writeAll(toAbsoluteOffset: 100, [7])
        try file.close()
        #expect(copy.open(copy.files[0]) == nil)
        #expect(!exists(path) && memory.objectNames.count == 3)
        let after = try memory.onlyCopy(of: key)
        #expect(after.files == [copy.files[1]])
        #expect(try after.open(after.files[0])?.path.content == files[1])
        #expect(after.open() != nil)
    }

    @Test func `a copy that was cut is not used, and goes`() throws {
        try Acknowledged("soup", pages: 3).remember(in: memory, as: key)
        let copy = try memory.onlyCopy(of: key)
        #expect(truncate(copy.record.path.string, 512) == 0)
        #expect(memory.copies(of: key).isEmpty)
        try expectForgotten(copy)
        #expect(!exists(copy.record.path))
    }

    @Test func `a copy that is gone is forgotten`() throws {
        try Acknowledged("soup").remember(in: memory, as: key)
        let copy = try memory.onlyCopy(of: key)
        try PlatformCalls.removeFile(copy.record.path)
        try expectForgotten(copy)
    }

    @Test func `what has come in a copy's place is not used, and stays`() throws {
        let foreign = try Acknowledged("foreign").file(in: scratch.path)
        for way in ["link", "second name", "file", "folder", "pipe"] {
            try Acknowledged("soup").remember(in: memory, as: key)
            let copy = try memory.onlyCopy(of: key)
            // Made while the copy is there, so that it has another inode.
            let other = try Acknowledged("else").file(in: scratch.path)
            try PlatformCalls.removeFile(copy.record.path)
            switch way {
            case "link": try PlatformCalls.symbolicLink(at: copy.record.path, to: foreign)
            case "second name": try PlatformCalls.hardLink(foreign, as: copy.record.path)
            case "file": try PlatformCalls.rename(other, to: copy.record.path)
            case "folder": try PlatformCalls.makeFolder(copy.record.path)
            default: #expect(mkfifo(copy.record.path.string, 0o600) == 0)
            }
            try expectForgotten(copy)
            #expect(exists(copy.record.path), "\(way)")
            #expect(try foreign.content == Acknowledged("foreign").bytes)
            #expect(try memory.forget { _ in true }.count == 1)
            #expect(exists(copy.record.path), "\(way)")
            try Folder.removeTree(at: copy.record.path)
        }
    }

    @Test func `the same bytes in another file are as good, and ours`() throws {
        let sample = try Acknowledged("soup")
        try sample.remember(in: memory, as: key)
        let copy = try memory.onlyCopy(of: key)
        // As a backup brings it back.
        try PlatformCalls.rename(try sample.file(in: scratch.path), to: copy.record.path)
        #expect(copy.open() != nil)
        #expect(try memory.forget { _ in true }.count == 1)
        #expect(memory.objectNames == [])
    }

    @Test func `a manifest that is damaged is not given`() throws {
        try Acknowledged("soup").remember(in: memory, as: key)
        let index = try memory.index()
        let manifest = memory.objects.appending(try #require(index.entries.first).manifest)
        let file = try FileDescriptor.open(manifest, .readWrite)
        try file.writeAll(toAbsoluteOffset: 30, [UInt8(ascii: "x")])
        try file.close()
        #expect(memory.copies(of: key).isEmpty)
        #expect(try memory.records().count == 1, "to be listed and removed")
        #expect(try memory.forget { $0.name == .recipes }.count == 1)
        #expect(memory.objectNames == [])
    }

    @Test func `an index that is replaced while it is read is one of the two`() throws {
        let key = BaseKey()
        try Acknowledged("soup").remember(in: memory, as: key)
        let index = memory.folder.appending("index.json")
        let sent = SentStore(
            key.name, to: "watch", at: key.store, try PlatformCalls.status(of: index), key: nil, identity: nil,
            schema: ContentDigest(hashing: [1]))
        memory.note(sent)
        let (bytes, aside) = (try index.content, memory.folder.appending("aside"))
        let isOver = Atomic(false)
        let replacing = Thread {
            while !isOver.load(ordering: .relaxed) {
                try? OpenFile.creating(aside).write(bytes)
                try? PlatformCalls.rename(aside, to: index)
            }
            try? PlatformCalls.removeFile(aside)
        }
        replacing.start()
        defer { isOver.store(true, ordering: .relaxed) }
        for _ in 0..<20_000 {
            #expect(try memory.sent(as: key.name) == [sent])
            #expect(memory.copies(of: key).count == 1)
        }
    }

    @Test func `an index that cannot be read does not say that nothing was sent`() throws {
        try Acknowledged("soup").remember(in: memory, as: key)
        try Data("no index".utf8).write(to: URL(fileURLWithPath: memory.folder.appending("index.json").string))
        #expect(throws: BaseMemoryError.self) { try memory.sent(as: key.name) }
    }

    @Test func `where everything is forgotten, files go too that the index has lost`() throws {
        try Acknowledged("soup").remember(in: memory, as: key)
        try PlatformCalls.removeFile(memory.folder.appending("index.json"))
        let (lost, open) = (memory.objectNames, UUID().uuidString)
        let others = ["notes", UUID().uuidString.lowercased(), open]
        for name in others { try OpenFile.creating(memory.objects.appending(name)).write([1]) }
        try PlatformCalls.changeMode(of: memory.objects.appending(open), to: [.ownerRead, .otherRead])
        _ = try memory.forget { _ in true }
        #expect(memory.objectNames == (lost + others).sorted())
        #expect(try memory.forgetEverything().isEmpty)
        #expect(memory.objectNames == others.sorted())
        for name in others { try PlatformCalls.removeFile(memory.objects.appending(name)) }
        // What is listed is removed by the list.
        try Acknowledged("soup").remember(in: memory, as: key)
        #expect(try memory.forgetEverything().count == 1)
        #expect(try Folder.names(in: memory.folder) == [])
    }

    private func huge() -> String {
        let digest = String(repeating: "0", count: 64)
        return #"{"id":"\#(UUID().uuidString)","inode":1,"sha256":"\#(digest)","size":\#(Limits.partSize)},"#
    }

    @Test func `an index that makes no sense is neither used nor replaced`() throws {
        try Acknowledged("soup").remember(in: memory, as: key)
        let path = memory.folder.appending("index.json")
        let whole = String(decoding: try path.content, as: UTF8.self)
        let id = try #require(memory.index().entries.first).copy
        let bad = [
            "", "{", String(whole.dropLast(20)), whole.replacing("\"version\":1", with: "\"version\":0"),
            whole.replacing(id, with: "../../\(id)"), whole.replacing("\"use\":1", with: "\"use\":2"),
            whole.replacing("\"size\":512", with: "\"size\":-1"),
            whole.replacing("\"copy\":\"\(id)\"", with: "\"copy\":\"\(UUID().uuidString)\""),
            String(repeating: " ", count: Int(BaseIndex.sizeLimit)) + whole,
            // Each size is one that a file may have, and all together are none.
            whole.replacing("\"objects\":[", with: "\"objects\":[" + (0..<16_400).map { _ in huge() }.joined()),
        ]
        for text in bad {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path.string))
            #expect(chmod(path.string, 0o600) == 0)
            #expect(memory.copies(of: key).isEmpty)
            for result in [
                Result { () throws(BaseMemoryError) in _ = try memory.records() },
                Result { () throws(BaseMemoryError) in _ = try memory.forget { _ in true } },
            ] {
                guard case .failure(.damaged(path, _)) = result else {
                    return #expect(Bool(false), "\(text.prefix(80))")
                }
            }
            guard case .failed(.damaged) = try Acknowledged("next").remember(in: memory, as: key) else {
                return #expect(Bool(false), "\(text.prefix(80))")
            }
            #expect(try path.content == Array(text.utf8))
            #expect(memory.objectNames.count == 2)
        }
        try Data(whole.utf8).write(to: URL(fileURLWithPath: path.string))
        #expect(chmod(path.string, 0o600) == 0)
        #expect(try memory.onlyCopy(of: key).open() != nil)
    }

    @Test func `what is foreign in the folder stays`() throws {
        try Acknowledged("soup").remember(in: memory, as: key)
        let names = [
            "notes", "ship-store-notes", "objects/\(UUID().uuidString)", "objects/README",
            "ship-store-\(UUID().uuidString)",
        ]
        for name in names { try OpenFile.creating(memory.folder.pushing(FilePath(name))).write(Array("mine".utf8)) }
        for text in ["a", "b"] { try Acknowledged(text).remember(in: memory, as: key) }
        #expect(try memory.forget { _ in true }.count == 1)
        for name in names {
            #expect(try memory.folder.pushing(FilePath(name)).content == Array("mine".utf8), "\(name)")
        }
        #expect(memory.objectNames.count == 2)
    }

    @Test func `what a killed process left is swept`() async throws {
        let path = memory.folder
        let result = await #expect(processExitsWith: .signal(SIGKILL)) { [path = path.string as String] in
            let memory = BaseMemory(at: FilePath(path))
            let folder = try TemporaryFolder(in: memory.workingFolder(for: 512) ?? "/")
            _ = try Acknowledged("half").file(in: folder.path)
            kill(getpid(), SIGKILL)
        }
        #expect(result != nil)
        #expect(try Folder.names(in: path).count == 1)
        try Acknowledged("soup").remember(in: memory, as: key)
        #expect(try Folder.names(in: path) == ["index.json", "objects"])
    }

    @Test func `a folder that others can look into is refused, and left as it is`() throws {
        try Acknowledged("soup").remember(in: memory, as: key)
        let exposed: FilePermissions = [.ownerReadWriteExecute, .groupReadExecute]
        try PlatformCalls.changeMode(of: memory.folder, to: exposed)
        #expect(memory.copies(of: key).isEmpty)
        #expect(throws: BaseMemoryError.exposed(memory.folder, exposed)) { try memory.records() }
        #expect(throws: BaseMemoryError.exposed(memory.folder, exposed)) { try memory.forget { _ in true } }
        #expect(memory.workingFolder(for: 1) == nil)
        let copy = try Acknowledged("next")
        let file = try copy.file(in: scratch.path)
        #expect(
            memory.remember(copy.manifest, copy: file, as: key, receiver: "a")
                == .failed(.exposed(memory.folder, exposed)))
        #expect(try PlatformCalls.status(of: memory.folder).permissions == exposed)
        try PlatformCalls.changeMode(of: memory.folder, to: .ownerReadWriteExecute)
        let moved = scratch.path.appending("moved")
        try PlatformCalls.rename(memory.folder, to: moved)
        try PlatformCalls.symbolicLink(at: memory.folder, to: moved)
        #expect(throws: BaseMemoryError.notPlain(memory.folder)) { try memory.records() }
    }

    @Test func `a folder that somebody else has locked is busy, and a send goes on`() async throws {
        try Acknowledged("soup").remember(in: memory, as: key)
        let lock = try FolderLock.take(.exclusive, on: memory.folder)
        let task = Task(executorPreference: TestThreads.shared) {
            try Acknowledged("next").remember(in: memory, as: key)
        }
        task.cancel()
        let result = try await task.value
        #expect(result == .failed(.stopped))
        // Reading needs no lock.
        #expect(try memory.onlyCopy(of: key).open(unless: { false }) != nil)
        _ = consume lock
        #expect(try Acknowledged("next").remember(in: memory, as: key) == .remembered)
    }

    @Test func `a copy is not forgotten because nobody wanted to wait for it`() throws {
        try Acknowledged("soup").remember(in: memory, as: key)
        #expect(try memory.onlyCopy(of: key).open(unless: { true }) == nil)
        #expect(try memory.onlyCopy(of: key).open(unless: { false }) != nil)
    }
}

/// Where there is little room.
@Suite(.enabled("may not mount a tmpfs") { await SmallDisk.isAvailable() })
struct SmallDiskMemoryTests {
    @Test func `the last tenth of a disk stays free`() async throws {
        try await SmallDisk.with(size: "1m") { disk in
            let memory = BaseMemory(at: disk.appending("bases"))
            let keys = (0..<4).map { BaseKey(FilePath("/phone/\($0).sqlite")) }
            for (number, key) in keys.enumerated() {
                #expect(try Acknowledged("\(number)", pages: 500).remember(in: memory, as: key) == .remembered)
            }
            // 256,000 bytes each: a fourth would leave less.
            #expect(keys.map { memory.copies(of: $0).count } == [0, 1, 1, 1])
            #expect(try PlatformCalls.freeSpace(around: disk) >= 1_048_576 / 10)
            // Somebody else fills it.
            let other = try OpenFile.creating(disk.appending("other"))
            try other.write([UInt8](repeating: 7, count: Int(try PlatformCalls.freeSpace(around: disk)) - 20_000))
            #expect(memory.workingFolder(for: 512) == nil)
            #expect(keys.map { memory.copies(of: $0).count } == [0, 1, 1, 1])
            #expect(try Acknowledged("small").remember(in: memory, as: BaseKey()) == .remembered)
            #expect(keys.map { memory.copies(of: $0).count } == [0, 0, 1, 1])
            #expect(try PlatformCalls.freeSpace(around: disk) >= 1_048_576 / 10)
            // All that is left.
            let rest = try PlatformCalls.freeSpace(around: disk) + 512_000 - 90_000
            for key in keys[2...] { truncate(try memory.onlyCopy(of: key).record.path.string, 0) }
            try other.write([UInt8](repeating: 7, count: Int(rest)))
            #expect(try Acknowledged("small").remember(in: memory, as: BaseKey()) == .noRoom)
            #expect(memory.objectNames == [], "the last tenth is not ours")
        }
    }

    @Test func `on a full disk nothing is remembered, and all can be forgotten`() async throws {
        try await SmallDisk.with(size: "1m") { disk in
            let memory = BaseMemory(at: disk.appending("bases"))
            #expect(try Acknowledged("one", pages: 300).remember(in: memory, as: BaseKey()) == .remembered)
            let other = try OpenFile.creating(disk.appending("other"))
            try? other.write([UInt8](repeating: 7, count: 2_000_000))
            #expect(try PlatformCalls.freeSpace(around: disk) == 0)
            let scratch = try ScratchFolder()
            let next = try Acknowledged("two", pages: 300)
            let result = memory.remember(
                next.manifest, copy: try next.file(in: scratch.path), as: BaseKey("/phone/b"), receiver: "a")
            switch result {
            case .remembered: Issue.record("there is no room")
            case .noRoom: break
            case .failed(.file(let error)): #expect(error.isOutOfSpace)
            default: Issue.record("\(result)")
            }
            _ = try memory.forget { _ in true }
            #expect(memory.objectNames == [])
        }
    }

    @Test func `a copy from another file system is copied`() async throws {
        try await SmallDisk.with(size: "1m") { disk in
            let scratch = try ScratchFolder()
            let memory = BaseMemory(at: disk.appending("bases"))
            let copy = try Acknowledged("soup", pages: 30)
            let file = try copy.file(in: scratch.path)
            #expect(memory.remember(copy.manifest, copy: file, as: BaseKey(), receiver: "a") == .remembered)
            #expect(try memory.onlyCopy(of: BaseKey()).open()?.path.content == copy.bytes)
            #expect(try file.content == copy.bytes)
            #expect(try Folder.names(in: memory.folder) == ["index.json", "objects"])
            let large = try Acknowledged("large", pages: 2000)
            let result = memory.remember(
                large.manifest, copy: try large.file(in: scratch.path), as: BaseKey(), receiver: "a")
            #expect(result == .noRoom)
            #expect(try memory.onlyCopy(of: BaseKey()).open()?.path.content == copy.bytes)
        }
    }
}
