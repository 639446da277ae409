import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import StoreBases

@Suite struct RememberingTests {
    private let scratch: ScratchFolder
    private let memory: BaseMemory

    init() throws {
        scratch = try ScratchFolder()
        memory = BaseMemory(at: scratch.path.appending("state/ship-store/bases"))
    }

    @Test func `what was acknowledged is given back, whole, with what was said of it`() throws {
        let key = BaseKey()
        let copy = try Acknowledged("soup")
        #expect(memory.copies(of: key).isEmpty)
        #expect((try? PlatformCalls.status(of: memory.folder)) == nil, "nothing is made for a question")
        #expect(try copy.remember(in: memory, as: key, by: "watch:7645", state: [1, 2, 3]) == .remembered)
        let known = try memory.onlyCopy(of: key)
        #expect(known.manifest == copy.manifest)
        #expect(known.receiver == "watch:7645" && known.state == [1, 2, 3])
        #expect(known.record.size == 512 && known.record.sha256 == copy.manifest.store.sha256)
        let opened = try #require(known.open())
        #expect(try opened.path.content == copy.bytes)
        #expect(try memory.records().map(\.key) == [key])
        #expect(try PlatformCalls.status(of: memory.folder).permissions == .ownerReadWriteExecute)
        #expect(try Folder.names(in: memory.folder) == ["index.json", "objects"])
        #expect(memory.objectNames.count == 2)
    }

    @Test func `a receiver's newest copy takes the place of the one before, and other receivers keep theirs`() throws {
        let key = BaseKey()
        try Acknowledged("one").remember(in: memory, as: key, by: "watch")
        try Acknowledged("one").remember(in: memory, as: key, by: "kiosk")
        #expect(memory.objectNames.count == 2, "equal copies and equal manifests are kept once")
        try Acknowledged("two", counter: 2).remember(in: memory, as: key, by: "watch")
        #expect(memory.copies(of: key).map(\.receiver) == ["watch", "kiosk"])
        #expect(memory.copies(of: key).map(\.manifest.counter) == [2, 1])
        #expect(memory.objectNames.count == 4)
        try Acknowledged("two", counter: 3).remember(in: memory, as: key, by: "kiosk")
        #expect(memory.copies(of: key).map(\.receiver) == ["kiosk", "watch"])
        #expect(memory.objectNames.count == 3, "one copy, two manifests")
    }

    @Test func `external files are kept once, for as long as a copy needs them`() throws {
        let key = BaseKey()
        let files = [1, 2, 3].map { [UInt8](repeating: $0, count: 1000) }
        try Acknowledged("one", files: Array(files[..<2])).remember(in: memory, as: key, by: "watch")
        try Acknowledged("one", counter: 2, files: Array(files[..<2])).remember(in: memory, as: key, by: "kiosk")
        #expect(memory.objectNames.count == 5, "one copy, two manifests, two files")
        #expect(try memory.records().map(\.externalFiles.count) == [2, 2])
        try Acknowledged("two", counter: 3, files: Array(files[1...])).remember(in: memory, as: key, by: "watch")
        #expect(memory.objectNames.count == 7, "two copies, two manifests, three files")
        try Acknowledged("two", counter: 3).remember(in: memory, as: key, by: "kiosk")
        let known = memory.copies(of: key)
        #expect(known.map(\.files.count) == [0, 2] && memory.objectNames.count == 5)
        for (file, bytes) in zip(known[1].files, files[1...]) {
            #expect(try known[1].open(file)?.path.content == bytes)
            #expect(known[0].open(file) == nil, "it is no file of that copy")
        }
        #expect(try memory.forget { _ in true }.count == 2)
        #expect(try Folder.names(in: memory.folder) == [])
    }

    @Test func `external files have a share of the room, and go before any copy`() throws {
        let files = (0..<4).map { [UInt8](repeating: $0, count: 1000) }
        let keys = ["a", "b", "c"].map { BaseKey(FilePath("/phone/\($0).sqlite")) }
        let words = Int64((try Acknowledged("a", files: files).manifest).jsonBytes.count)
        let small = BaseMemory(at: memory.folder, budget: 12_100)
        try Acknowledged("a", files: Array(files[..<2])).remember(in: small, as: keys[0])
        #expect(try small.onlyCopy(of: keys[0]).files.count == 2)
        // Three have room in a quarter: those of the older copy go.
        try Acknowledged("b", files: Array(files[2...])).remember(in: small, as: keys[1])
        #expect(try keys.prefix(2).map { try small.onlyCopy(of: $0).files.count } == [0, 2])
        // Of its own the last ones do.
        try Acknowledged("b", files: files).remember(in: small, as: keys[1])
        let own = try small.onlyCopy(of: keys[1]).files
        #expect(own.map(\.sha256.short) == files[..<3].map { ContentDigest(hashing: $0).short })
        // Copies are worth more.
        let pages = Int((small.budget - 2 * (512 + words)) / 512)
        #expect(try Acknowledged("c", pages: pages).remember(in: small, as: keys[2]) == .remembered)
        #expect(try small.onlyCopy(of: keys[1]).files.isEmpty)
        #expect(keys.allSatisfy { small.copies(of: $0).count == 1 })
    }

    @Test func `an external file that cannot be had is left out`() throws {
        let copy = try Acknowledged("soup", files: [[1, 2, 3]])
        let file = try copy.file(in: scratch.path)
        let parts = [(part: copy.manifest.parts[1], path: scratch.path.appending("none"))]
        #expect(memory.remember(copy.manifest, copy: file, files: parts, as: BaseKey(), receiver: "a") == .remembered)
        #expect(try memory.onlyCopy(of: BaseKey()).files.isEmpty)
        let other = scratch.path.appending("other")
        try OpenFile.creating(other).write([7, 7, 7])
        let wrong = [(part: copy.manifest.parts[1], path: other)]
        #expect(memory.remember(copy.manifest, copy: file, files: wrong, as: BaseKey(), receiver: "a") == .remembered)
        let known = try memory.onlyCopy(of: BaseKey())
        #expect(known.files.count == 1 && known.open(known.files[0]) == nil, "it is not what the manifest says")
        #expect(try memory.onlyCopy(of: BaseKey()).files.isEmpty)
    }

    @Test func `an external file that is longer than its part is not copied`() throws {
        let copy = try Acknowledged("soup", files: [[1, 2, 3]])
        let file = try copy.file(in: scratch.path)
        let long = scratch.path.appending("long")
        // It takes no room itself: 64 GiB of zeros that are not written.
        try OpenFile.creating(long).write([])
        #expect(truncate(long.string, 1 << 36) == 0)
        let parts = [(part: copy.manifest.parts[1], path: long)]
        let start = ContinuousClock.now
        #expect(memory.remember(copy.manifest, copy: file, files: parts, as: BaseKey(), receiver: "a") == .remembered)
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(try memory.onlyCopy(of: BaseKey()).files.isEmpty)
    }

    @Test func `other stores, names and profiles have their own`() throws {
        let keys = [
            BaseKey(), BaseKey("/phone/Other.sqlite"), BaseKey(name: .tea), BaseKey(profile: "without history"),
        ]
        for (number, key) in keys.enumerated() {
            try Acknowledged("\(number)", name: key.name).remember(in: memory, as: key)
        }
        for (number, key) in keys.enumerated() {
            #expect(try memory.onlyCopy(of: key).manifest.store == Acknowledged("\(number)").manifest.store)
        }
    }

    @Test func `as many copies stay as there is room for`() throws {
        let keys = (0..<300).map { BaseKey(FilePath("/phone/\($0).sqlite")) }
        for (number, key) in keys.enumerated() {
            #expect(try Acknowledged("\(number)").remember(in: memory, as: key) == .remembered)
        }
        #expect(keys.allSatisfy { memory.copies(of: $0).count == 1 })
    }

    @Test func `a copy that was made there is not written twice`() throws {
        let folder = try #require(memory.workingFolder(for: 512))
        let place = try TemporaryFolder(in: folder)
        let file = try Acknowledged("soup").file(in: place.path)
        let inode = try PlatformCalls.status(of: file).inode
        let copy = try Acknowledged("soup")
        #expect(memory.remember(copy.manifest, copy: file, as: BaseKey(), receiver: "a") == .remembered)
        #expect(try PlatformCalls.status(of: try memory.onlyCopy(of: BaseKey()).record.path).inode == inode)
        // The same file goes to another receiver.
        #expect(memory.remember(copy.manifest, copy: file, as: BaseKey(), receiver: "b") == .remembered)
        #expect(try PlatformCalls.status(of: file).links == 2)
    }

    @Test func `a file that has another name, too, is copied`() throws {
        let copy = try Acknowledged("soup")
        let file = try copy.file(in: scratch.path)
        try PlatformCalls.hardLink(file, as: scratch.path.appending("other"))
        #expect(memory.remember(copy.manifest, copy: file, as: BaseKey(), receiver: "a") == .remembered)
        #expect(try PlatformCalls.status(of: file).links == 2)
        #expect(try memory.onlyCopy(of: BaseKey()).open()?.path.content == copy.bytes)
    }

    @Test func `what does not fit is declined, and changes nothing`() throws {
        let small = BaseMemory(at: memory.folder, budget: 2000)
        let copy = try Acknowledged("soup")
        try copy.remember(in: small, as: BaseKey())
        let before = try FolderListing(of: memory.folder)
        #expect(try Acknowledged("large", pages: 5).remember(in: small, as: BaseKey()) == .tooLarge)
        #expect(small.workingFolder(for: 2001) == nil)
        #expect(
            try copy.remember(in: small, as: BaseKey(), state: [UInt8](repeating: 0, count: 4097))
                == .tooLong)
        #expect(
            try copy.remember(in: small, as: BaseKey(), by: String(repeating: "a", count: 1025)) == .tooLong)
        let other = try Acknowledged("other", pages: 2).file(in: scratch.path)
        #expect(small.remember(copy.manifest, copy: other, as: BaseKey(), receiver: "a") == .otherFile)
        let link = scratch.path.appending("link")
        try PlatformCalls.symbolicLink(at: link, to: try copy.file(in: scratch.path))
        #expect(small.remember(copy.manifest, copy: link, as: BaseKey(), receiver: "a") == .otherFile)
        let none = small.remember(copy.manifest, copy: scratch.path.appending("none"), as: BaseKey(), receiver: "a")
        guard case .failed(.file) = none else { return #expect(Bool(false), "\(none)") }
        #expect(try FolderListing(of: memory.folder) == before)
    }

    @Test func `what was pinned stays, beside others, for whatever is left out`() throws {
        let size = 512 + Int64((try Acknowledged("a").manifest).jsonBytes.count)
        let small = BaseMemory(at: memory.folder, budget: 3 * size + 10)
        let key = BaseKey()
        for name in ["base 1", "base 2"] {
            #expect(try Acknowledged(name).remember(in: small, as: key, by: BaseKey.everyReceiver) == .remembered)
        }
        for number in 1...4 {
            #expect(try Acknowledged("\(number)").remember(in: small, as: key, by: "\(number)") == .remembered)
        }
        #expect(small.copies(of: key).map(\.receiver) == ["4", "*", "*"])
        let other = BaseKey(name: key.name, store: key.store, profile: ContentDigest(hashing: [1]))
        #expect(small.copies(of: other).map(\.record.isPinned) == [true, true])
        // It has no room, and what is pinned does not go for it.
        let full = BaseMemory(at: memory.folder, budget: 2 * size + 10)
        #expect(try Acknowledged("5").remember(in: full, as: key, by: "5") == .noRoom)
        #expect(small.copies(of: key).filter(\.record.isPinned).count == 2)
        #expect(try small.forget { $0 == key }.count == 3)
    }

    @Test func `what was used longest ago goes first, whatever the clock says`() throws {
        let size = 512 + Int64((try Acknowledged("a").manifest).jsonBytes.count)
        let small = BaseMemory(at: memory.folder, budget: 3 * size + 10)
        let keys = ["a", "b", "c", "d"].map { BaseKey(FilePath("/phone/\($0).sqlite")) }
        for key in keys.prefix(3) { try Acknowledged(key.store.string).remember(in: small, as: key) }
        // The one that would be next.
        #expect(try small.onlyCopy(of: keys[0]).open() != nil)
        try Acknowledged("d").remember(in: small, as: keys[3])
        #expect(keys.map { small.copies(of: $0).count } == [1, 0, 1, 1])
        #expect(small.objectNames.count == 6)
        #expect(try small.records().map(\.key) == [keys[3], keys[0], keys[2]])
        // A smaller budget holds from the next time on.
        let smaller = BaseMemory(at: memory.folder, budget: size + 10)
        try Acknowledged("b").remember(in: smaller, as: keys[1])
        #expect(try smaller.records().map(\.key) == [keys[1]])
        #expect(smaller.objectNames.count == 2)
    }

    @Test func `a copy that is being read stays, and goes later`() throws {
        let (key, other) = (BaseKey(), BaseKey("/phone/Other.sqlite"))
        let copy = try Acknowledged("soup")
        try copy.remember(in: memory, as: key)
        do {
            let opened = try #require(try memory.onlyCopy(of: key).open())
            #expect(throws: BaseMemoryError.stillThere(opened.path)) { try memory.forget { _ in true } }
            #expect(memory.copies(of: key).isEmpty)
            #expect(try opened.path.content == copy.bytes)
            try Acknowledged("other").remember(in: memory, as: other)
            #expect(try opened.path.content == copy.bytes)
            #expect(memory.objectNames.count == 3)
            withExtendedLifetime(opened) {}
        }
        #expect(try memory.forget { $0.name == .tea }.isEmpty)
        try Acknowledged("newer").remember(in: memory, as: other)
        #expect(memory.objectNames.count == 2)
    }

    @Test func `what was noted while the lock was waited for is forgotten, too`() async throws {
        let key = BaseKey()
        try Acknowledged("soup").remember(in: memory, as: key)
        let opened = try #require(try memory.onlyCopy(of: key).open())
        let stays = BaseMemoryError.stillThere(opened.path)
        #expect(throws: stays) { try memory.forget { _ in true } }
        let index = memory.folder.appending("index.json")
        let before = try index.content
        let file = try PlatformCalls.status(of: index)
        memory.note(
            SentStore(
                key.name, to: "watch", at: key.store, file, key: nil, identity: nil, schema: ContentDigest(hashing: [1])
            ))
        #expect(try memory.sent(as: key.name).count == 1)
        let noted = try index.content
        // It has been read, and not yet under the lock.
        try Data(before).write(to: URL(fileURLWithPath: index.string))
        let lock = try FolderLock.take(.exclusive, on: memory.folder)
        let isLocked = lock != nil
        try #require(isLocked)
        let forgetting = Task.detached { [memory] in try memory.forget { _ in true } }
        try await Task.sleep(for: .milliseconds(200))
        try Data(noted).write(to: URL(fileURLWithPath: index.string))
        _ = consume lock
        await #expect(throws: stays) { try await forgetting.value }
        #expect(try memory.sent(as: key.name).isEmpty)
        withExtendedLifetime(opened) {}
    }

    @Test func `a store is noted with the copy that is remembered of it, and the index is written once for both`()
        throws
    {
        let (key, copy) = (BaseKey(), try Acknowledged("soup"))
        let place = try TemporaryFolder(in: scratch.path)
        let file = try copy.file(in: place.path)
        let sent = SentStore(
            key.name, to: "watch", at: key.store, try PlatformCalls.status(of: file), key: nil, identity: nil,
            schema: ContentDigest(hashing: [1]))
        #expect(
            memory.remember(copy.manifest, copy: file, as: key, receiver: "watch", sent: sent) == .remembered)
        #expect(try memory.sent(as: key.name) == [sent])
        let index = memory.folder.appending("index.json")
        let written = try PlatformCalls.status(of: index).inode
        memory.note(sent)
        #expect(try PlatformCalls.status(of: index).inode == written)
        #expect(try Folder.names(in: memory.folder) == ["index.json", "objects"])
    }

    @Test func `many at once end with what is remembered whole, within the budget`() async throws {
        let small = BaseMemory(at: memory.folder, budget: 6000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask(executorPreference: TestThreads.shared) { () async throws -> Void in
                    for round in 0..<12 {
                        let key = BaseKey(FilePath("/phone/\(task % 4).sqlite"))
                        let copy = try Acknowledged("\(task % 2) \(round)", counter: UInt64(round + 1))
                        #expect(try copy.remember(in: small, as: key, by: "\(task)") == .remembered)
                        for known in small.copies(of: key) {
                            guard let opened = known.open(unless: { false }) else { continue }
                            #expect(ContentDigest(hashing: try opened.path.content) == known.manifest.store.sha256)
                        }
                        guard round % 5 == 4 else { continue }
                        do {
                            _ = try small.forget { $0 == key }
                        } catch BaseMemoryError.stillThere {
                            // Another one of the many reads it.
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try Acknowledged("last").remember(in: small, as: BaseKey())
        let records = try small.records()
        #expect(records.first?.key == BaseKey())
        let sizes = try small.objectNames.map { try PlatformCalls.status(of: small.objects.appending($0)).size }
        #expect(sizes.reduce(0, +) <= 6000)
        #expect(try Folder.names(in: small.folder) == ["index.json", "objects"])
        #expect(try small.index().objects.count == small.objectNames.count)
    }

    @Test func `what belongs to a store that is moved follows it`() throws {
        let (old, new) = (BaseKey("/old/Recipes.sqlite"), BaseKey("/new/Recipes.sqlite"))
        try Acknowledged("there").remember(in: memory, as: new)
        try Acknowledged("here").remember(in: memory, as: old)
        try memory.follow(from: old.store, to: new.store)
        #expect(memory.copies(of: old).isEmpty)
        #expect(try memory.onlyCopy(of: new).manifest.store == Acknowledged("here").manifest.store)
        #expect(memory.objectNames.count == 2)
    }

    @Test func `what is forgotten is gone, and nothing else`() throws {
        let keys = [BaseKey(), BaseKey(name: .tea), BaseKey("/phone/Other.sqlite"), BaseKey(profile: "less")]
        for (number, key) in keys.enumerated() {
            try Acknowledged("\(number)", name: key.name).remember(in: memory, as: key)
        }
        func left() -> [Int] { keys.map { memory.copies(of: $0).count } }
        #expect(try memory.forget { $0.name == .tea }.map(\.key) == [keys[1]])
        #expect(left() == [1, 0, 1, 1])
        #expect(try memory.forget { $0 == keys[3] }.count == 1)
        #expect(left() == [1, 0, 1, 0])
        #expect(try memory.erase(storeAt: "/phone/Recipes.sqlite").count == 1)
        #expect(left() == [0, 0, 1, 0])
        #expect(memory.objectNames.count == 2)
        #expect(try memory.forget { _ in true }.count == 1)
        #expect(try Folder.names(in: memory.folder) == [])
        #expect(try memory.forget { _ in true }.isEmpty)
    }
}
