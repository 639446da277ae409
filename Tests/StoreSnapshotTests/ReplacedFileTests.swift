import Foundation
import ShipProtocol
import StoreFiles
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

/// Copies of a store whose app replaces its external files without end, hundreds of them a second.
@Suite struct ReplacedFileTests {
    /// As Core Data does it: the new file, the commit, then the old file goes. So many times a second, and never more often,
    /// until its input ends, or a minute is over.
    private static let app = """
        import os, random, sqlite3, sys, threading, time, uuid
        store, folder, count, rate = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
        db = sqlite3.connect(store, isolation_level=None, timeout=60)
        db.execute("PRAGMA synchronous = OFF")
        names = {}
        def replace(key):
            name = str(uuid.uuid4()).upper()
            with open(folder + "/" + name, "w") as file: file.write(name * 100)
            cell = b"\\x02" + name.encode() + b"\\x00"
            db.execute("INSERT OR REPLACE INTO ZPHOTO VALUES (?, 2, 1, 1, ?, NULL)", (key, cell))
            if key in names: os.unlink(folder + "/" + names[key])
            names[key] = name
        db.execute("BEGIN")
        for key in range(1, count + 1): replace(key)
        db.execute("COMMIT")
        over = threading.Event()
        threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
        print("replacing", flush=True)
        start, done = time.monotonic(), 0
        while not over.is_set() and time.monotonic() < start + 60:
            begun = time.monotonic()
            replace(random.randint(1, count))
            done += 1
            time.sleep(max(0, begun + 1 / rate - time.monotonic()))
        print(done, time.monotonic() - start)
        """

    /// Takes copies while the app is at work.
    ///
    /// - Parameters:
    ///   - rate: How many files are replaced a second.
    ///   - scratch: Where the app has its store.
    ///   - temporary: Where copies are made.
    ///   - most: How many more files this process may have open from then on.
    /// - Returns: How many files it replaced a second.
    private static func copies(
        _ count: Int, of files: Int, replacedAtMost rate: Int = 1200, beside scratch: ScratchFolder,
        in temporary: FilePath,
        openingAtMost most: Int? = nil
    ) async throws -> Double {
        let sample = try CoreDataSample(at: try scratch.folder("app").appending("Photos.sqlite"))
        let folder = sample.supportFolder.appending("_EXTERNAL_DATA")
        try Folder.make(folder)
        let app = try ChildProgram(
            "/usr/bin/env", ["python3", "-c", app, sample.path.string, folder.string, "\(files)", "\(rate)"],
            input: .pipe)
        _ = try await app.waitForLine(containing: "replacing", on: .output)
        // What is open already stays so.
        if let most { try OpenDescriptors.limit(to: OpenDescriptors.count + most) }
        for number in 1...count {
            let copy = try await SourceStore(at: sample.path).compactCopy(in: temporary)
            #expect(copy.externalFiles.count == files, "copy \(number)")
            for file in copy.externalFiles {
                let content = String(repeating: file.file.name.uuid, count: 100)
                let isWhole = FileManager.default.contents(atPath: file.path.string) == Data(content.utf8)
                #expect(isWhole, "copy \(number), \(file.file.name)")
            }
            // What was held beside that is gone already.
            let held = try Folder.names(in: copy.path.removingLastComponent().removingLastComponent())
            #expect(held.count == 1, "copy \(number): \(held.count)")
        }
        app.closeInput()
        let words = try await app.wait().stdout.split(whereSeparator: \.isWhitespace).suffix(2).compactMap {
            Double($0)
        }
        #expect(try Folder.names(in: temporary) == [])
        return words.count == 2 ? words[0] / words[1] : 0
    }

    @Test func `each file is held by a second name as it is found`() async throws {
        let scratch = try ScratchFolder()
        let rate = try await Self.copies(
            Soak.isOn ? 50 : 5, of: 100, beside: scratch, in: try scratch.folder("temporary"))
        #expect(rate > 100, "the app replaced hardly anything")
    }

    @Test func `on another file system it is opened, and copied where too many are open`() async {
        // A process of its own, which may open few files; and many are open that are none of the copy's, as in a server.
        await #expect(processExitsWith: .success) {
            let others = try (0..<200).map { _ in try FileHandle(forReadingFrom: URL(filePath: "/dev/null")) }
            defer { withExtendedLifetime(others) {} }
            let (scratch, memory) = (try ScratchFolder(), try ScratchFolder.inMemory())
            let there = try PlatformCalls.status(of: memory.path).device
            guard try PlatformCalls.status(of: scratch.path).device != there else { return }
            let rate = try await Self.copies(
                Soak.isOn ? 50 : 3, of: 200, replacedAtMost: 300, beside: scratch, in: memory.path, openingAtMost: 128)
            #expect(rate > 100, "the app replaced hardly anything")
        }
    }

    @Test func `no name of ours appears in a folder of the app, and half of the free descriptors stay free`() async {
        // A process of its own: its descriptors are counted.
        await #expect(processExitsWith: .success) {
            let most = 256
            try OpenDescriptors.limit(to: OpenDescriptors.count + most)
            let (scratch, memory) = (try ScratchFolder(), try ScratchFolder.inMemory())
            let sample = try CoreDataSample(at: try scratch.folder("app").appending("Photos.sqlite"))
            let folder = sample.supportFolder.appending("_EXTERNAL_DATA")
            for key in 1...most { try sample.addPhoto(key: key, content: Data("\(key)".utf8)) }
            let names = try Folder.names(in: folder)
            let start = OpenDescriptors.count
            let watch = Task.detached {
                var (highest, isClean) = (0, true)
                while !Task.isCancelled {
                    highest = max(highest, OpenDescriptors.count)
                    isClean = try isClean && Folder.names(in: folder) == names
                    try? await Task.sleep(for: .milliseconds(1))
                }
                return (highest, isClean)
            }
            let copy = try await SourceStore(at: sample.path).compactCopy(in: memory.path)
            #expect(copy.externalFiles.count == most)
            watch.cancel()
            let (highest, isClean) = try await watch.value
            // A few are SQLite's and the folders' own.
            #expect(highest <= start + most / 2 + 40)
            #expect(isClean)
        }
    }
}
