import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport

/// A folder full of stores whose names collide, in which commands are run at random, and what is known of it.
final class RandomDesk {
    let path: FilePath
    let temporary: FilePath
    let configuration: FilePath
    let reader: StoreReader
    var random: RepeatableRandom
    private let scratch: ScratchFolder

    /// What each store has ever referred to, as paths from the desk: its own files, as far as nobody else's rows name them.
    var history: [String: Set<String>] = [:]
    /// Stores that the test has damaged: their rows cannot be asked any more.
    var damaged: Set<String> = []
    /// What was a store's when a command that removes it was killed: the same command may finish.
    var unfinished: [String: Set<String>] = [:]
    /// The kept copies; of each folder in the order in which they came.
    var copies: [KeptFolder] = []

    /// A kept copy: one of which store, and with what tags.
    struct KeptFolder {
        let path: String
        let store: String
        let tags: Set<String>
        /// Rises in each folder.
        let number: Int
    }

    static let folders = ["a", "b", "g"]
    /// They share stems, and so support folders; some are called as another one's sidecars, or end as nothing.
    static let names = [
        "Recipes.sqlite", "Recipes.db", "Recipes", "Recipes.bak", "Model.sqlite", "Model.sqlite-wal.db",
    ]
    static let inboxes = ["inbox", "inbox2"]
    static let keptFolders = ["kept", "b/kept"]
    static let backupFolders = ["backups", "a", "g"]

    init(seed: UInt64, in memory: ScratchFolder) throws {
        scratch = memory
        random = RepeatableRandom(seed: seed)
        let root = try memory.folder("\(seed)-\(UUID().uuidString)")
        func folder(_ name: String) throws -> FilePath {
            try PlatformCalls.makeFolder(root.appending(name))
            return root.appending(name)
        }
        path = try folder("desk")
        temporary = try folder("tmp")
        configuration = try folder("config")
        reader = StoreReader(in: try folder("look"))
        try lay()
        _ = try look()
    }

    deinit { try? Folder.removeTree(at: path.removingLastComponent()) }

    func at(_ name: String) -> FilePath { path.pushing(FilePath(name)) }

    /// What is there now.
    func look() throws -> Snapshot {
        let snapshot = try Snapshot(of: path)
        for store in stores(in: snapshot) {
            guard let state = reader.state(of: store, in: snapshot) else { continue }
            history[store, default: []].formUnion(files(of: state, at: store))
        }
        return snapshot
    }

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    func any<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &random) }

    // MARK: Laying

    private func lay() throws {
        for folder in Self.folders {
            try PlatformCalls.makeFolder(at(folder))
            try layLinkedSupport(folder)
            for name in Self.names where chance(45) { try layStore("\(folder)/\(name)") }
            try layBystanders(folder)
        }
        // Another name for a store, and a store that is somebody's copy of another one, identity included.
        if let store = any(laid) {
            try PlatformCalls.symbolicLink(at: at("link.sqlite"), to: FilePath(store))
            if !laid.contains("g/Twin.sqlite"), chance(50) { try layTwin(of: store, at: "g/Twin.sqlite") }
        }
        if chance(30) { try layStore("inbox/Recipes.sqlite") }
        // Folders that are called as kept copies are, and hold something of a user's.
        for folder in Self.keptFolders where chance(50) {
            try write("\(folder)/Recipes-20260101T000000/notes.txt")
            try write("\(folder)/mine/list.txt")
        }
    }

    /// A folder of external files that somebody has put elsewhere, or that is another store's.
    private func layLinkedSupport(_ folder: String) throws {
        guard chance(15), let stem = any(["Recipes", "Model"]) else { return }
        let target = chance(50) ? "a/.\(stem)_SUPPORT" : "elsewhere/\(folder)"
        guard target != "\(folder)/.\(stem)_SUPPORT" else { return }
        try Folder.make(at(target))
        try PlatformCalls.symbolicLink(at: at("\(folder)/.\(stem)_SUPPORT"), to: FilePath("../\(target)"))
    }

    private var laid: [String] = []

    private func layStore(_ name: String) throws {
        try Folder.make(at(name).removingLastComponent())
        laid.append(name)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try layPlain(name)
        default: try layCoreData(name)
        }
    }

    /// For an app that comes later.
    private func layLog(_ name: String) throws {
        if chance(70) { try execute("CREATE TABLE \(StoreState.logTable)(n INTEGER PRIMARY KEY)", on: name) }
    }

    private func layPlain(_ name: String) throws {
        let marker = Int.random(in: 0..<1_000_000, using: &random)
        try TestStore.make(
            at: at(name),
            sql: """
                PRAGMA journal_mode = \(chance(50) ? "WAL" : "DELETE");
                CREATE TABLE recipe(id INTEGER PRIMARY KEY, title TEXT);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
                INSERT INTO recipe(title) SELECT 'Soup \(marker) ' || i FROM n;
                """)
        try layLog(name)
    }

    private func layCoreData(_ name: String) throws {
        let sample = try CoreDataSample(at: at(name), journalMode: chance(50) ? "WAL" : "DELETE")
        let identity = uuid()
        try execute("UPDATE Z_METADATA SET Z_UUID = '\(identity)'", on: name)
        for key in 1...Int.random(in: 1...3, using: &random) {
            let content = Data(random.bytes(Int.random(in: 10...3000, using: &random)))
            try sample.addPhoto(key: key, content: content, uuid: uuid())
        }
        try layLog(name)
        guard chance(30) else { return }
        // The last commit is in a log that nobody has moved into the store.
        let saved = at(name).string + ".saved"
        let queue = try TestStore.open(at(name))
        try queue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA journal_mode = WAL; INSERT INTO ZRECIPE(ZNAME) VALUES ('last')")
        }
        for ending in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: at(name).string + ending, toPath: saved + ending)
        }
        try queue.close()
        for ending in ["", "-wal"] {
            try PlatformCalls.rename(FilePath(saved + ending), to: FilePath(at(name).string + ending))
        }
    }

    private func layTwin(of store: String, at twin: String) throws {
        let content = try Data(contentsOf: URL(fileURLWithPath: at(store).string))
        let support = StorePaths(store).support
        try content.write(to: URL(fileURLWithPath: at(twin).string))
        // Without the log the last commit is missing, and nothing else.
        guard FileManager.default.fileExists(atPath: at(support).string) else { return }
        try FileManager.default.copyItem(atPath: at(support).string, toPath: at(StorePaths(twin).support).string)
    }

    /// What lies beside stores and is nobody's, or somebody else's.
    private func layBystanders(_ folder: String) throws {
        let places = [
            "\(folder)/.Recipes_SUPPORT/notes.txt", "\(folder)/.Recipes_SUPPORT/_EXTERNAL_DATA/readme",
            "\(folder)/.Recipes_SUPPORT/_EXTERNAL_DATA/\(uuid())", "\(folder)/.Ghost_SUPPORT/_EXTERNAL_DATA/\(uuid())",
            "\(folder)/Ghost.sqlite-wal", "\(folder)/Recipes.txt", "\(folder)/.Recipes-safety/notes.txt",
        ]
        for place in places where chance(50) { try write(place) }
    }

    private func write(_ name: String) throws {
        try Folder.make(at(name).removingLastComponent())
        try Data(random.bytes(100)).write(to: URL(fileURLWithPath: at(name).string))
    }

    func execute(_ sql: String, on store: String) throws {
        try TestStore.make(at: at(store), sql: sql)
    }

    private func uuid() -> String {
        let bytes = random.bytes(16)
        let digits = bytes.map { String(format: "%02X", $0) }.joined()
        let cuts = [0, 8, 12, 16, 20, 32]
        return zip(cuts, cuts.dropFirst()).map { String(Array(digits)[$0..<$1]) }.joined(separator: "-")
    }
}

/// The names that go with a store's, from its path.
struct StorePaths {
    let store: String
    let folder: String
    let support: String

    init(_ store: String) {
        self.store = store
        folder = Names.folder(of: store)
        let stem = FilePath(Names.last(of: store)).stem ?? ""
        let name = ".\(stem)_SUPPORT"
        support = folder.isEmpty ? name : "\(folder)/\(name)"
    }

    /// What a restore writes down for the next one, should it be cut off.
    var note: String { folder.isEmpty ? ".\(name).restoring" : "\(folder)/.\(name).restoring" }
    var sidecars: [String] { ["-wal", "-shm", "-journal"].map { store + $0 } }
    var name: String { Names.last(of: store) }
    var stem: String { FilePath(name).stem ?? "" }
}
