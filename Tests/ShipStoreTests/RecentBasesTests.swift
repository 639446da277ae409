import ShipProtocol
import StoreBases
import StoreFiles
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Copies in RAM, and what becomes of them.
@Suite(.serialized, .enabled("may not mount an ext4 of its own") { await LoopDisk.isAvailable(.ext4) })
struct RecentBasesTests {
    /// A receiver of a store.
    fileprivate struct Place: Hashable {
        let store: String
        let receiver: String
    }

    /// What the memory has to know.
    private struct Model {
        var acknowledged: [Place: Set<ContentDigest>] = [:]
        /// Since the process began.
        var newest: [Place: ContentDigest] = [:]
    }

    @Test(arguments: 1...(Soak.isOn ? 60 : 6))
    func `in any order the memory has what each receiver acknowledged, and in the end the newest`(run: Int) async throws
    {
        let seed = UInt64.random(in: 0..<1 << 32)
        var random = RepeatableRandom(seed: seed)
        let place = try ScratchFolder()
        let disk = try await LoopDisk(in: place.path, .ext4)
        do {
            let scratch = try ScratchFolder(in: disk.path)
            let options = Producer.Options()
            let memory = BaseMemory(at: scratch.path.appending("bases"))
            let names = ["Small", "Large"]
            for (name, rows) in zip(names, [100, 2000]) {
                try TestStore.make(
                    at: scratch.path.appending("\(name).sqlite"),
                    sql: """
                        CREATE TABLE line(words);
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
                        INSERT INTO line SELECT hex(randomblob(50)) FROM n
                        """)
            }
            // Some of the small one, or all of it, and the large one, too.
            let budget = Int64([60_000, 150_000, 700_000, 2_000_000].randomElement(using: &random) ?? 0)
            var recent = try #require(RecentBases(before: memory, options.copy, within: budget))
            var (model, story, inRAM) = (Model(), [String](), 0)
            for _ in 0..<(Soak.isOn ? 60 : 30) {
                let name = names.randomElement(using: &random) ?? ""
                let store = scratch.path.appending("\(name).sqlite")
                let bases = RememberedBases(
                    in: memory, of: store, named: StoreName(suggestedBy: store), CopyProfile(), before: recent)
                let event = ["change", "settle", "kill", "ship", "ship", "ship"].randomElement(using: &random) ?? ""
                story.append("\(event) \(name)")
                switch event {
                case "change": try TestStore.make(at: store, sql: "INSERT INTO line VALUES (hex(randomblob(50)))")
                case "settle":
                    await recent.settle()
                    for (place, digest) in model.newest {
                        let found = try memory.records().filter { Place($0) == place }.map(\.sha256)
                        #expect(found == [digest], "seed \(seed): \(story)")
                    }
                case "kill":
                    recent = try #require(RecentBases(before: memory, options.copy, within: budget))
                    model.newest = [:]
                default:
                    var copying = options.copy
                    copying.temporaryFolder = bases.workingFolder() ?? copying.temporaryFolder
                    let copy = try await self.copy(of: store, in: recent, else: copying)
                    if recent.holds(copy.path(ofPart: 0)) {
                        inRAM += 1
                        let folder = copy.path(ofPart: 0).removingLastComponent().removingLastComponent()
                        let size = try self.size(of: folder)
                        #expect(size <= budget, "seed \(seed): \(story)")
                    }
                    for receiver in ["watch", "phone", "desk"] where Bool.random(using: &random) {
                        let place = Place(store: name, receiver: receiver)
                        let digest = copy.manifest.store.sha256
                        model.acknowledged[place, default: []].insert(digest)
                        model.newest[place] = digest
                        let outcome = bases.acknowledged(copy.manifest, copy: copy.path(ofPart: 0), by: receiver)
                        #expect(outcome == .remembered, "seed \(seed): \(story)")
                    }
                }
                for record in try memory.records() {
                    let known = model.acknowledged[Place(record)] ?? []
                    #expect(known.contains(record.sha256), "seed \(seed): \(story)")
                }
                for (place, digest) in model.newest where place.store == name {
                    let current = RememberedBases(
                        in: memory, of: store, named: StoreName(suggestedBy: store), CopyProfile(), before: recent)
                    let found = current.bases.first { $0.receiver == place.receiver }
                    #expect(found?.record.sha256 == digest && found?.open() != nil, "seed \(seed): \(story)")
                }
            }
            await recent.settle()
            for (place, digest) in model.newest {
                let found = try memory.records().filter { Place($0) == place }.map(\.sha256)
                #expect(found == [digest], "seed \(seed): \(story)")
            }
            if budget >= 2_000_000 { #expect(inRAM > 0, "seed \(seed): \(story)") }
        }
        try await disk.remove()
    }

    @Test func `where two copies have room, all are made in RAM`() async throws {
        let place = try ScratchFolder()
        let disk = try await LoopDisk(in: place.path, .ext4)
        do {
            let scratch = try ScratchFolder(in: disk.path)
            let store = scratch.path.appending("Recipes.sqlite")
            try TestStore.make(
                at: store, sql: "CREATE TABLE recipe(photo); INSERT INTO recipe VALUES (randomblob(400000))")
            let options = Producer.Options()
            let memory = BaseMemory(at: scratch.path.appending("bases"))
            let recent = try #require(RecentBases(before: memory, options.copy, within: 1_000_000))
            let bases = RememberedBases(
                in: memory, of: store, named: StoreName(suggestedBy: store), CopyProfile(), before: recent)
            for number in 1...4 {
                try TestStore.make(at: store, sql: "INSERT INTO recipe VALUES ('\(number)')")
                let copy = try await self.copy(of: store, in: recent, else: options.copy)
                #expect(recent.holds(copy.path(ofPart: 0)), "\(number)")
                bases.acknowledged(copy.manifest, copy: copy.path(ofPart: 0), by: "watch")
            }
        }
        try await disk.remove()
    }

    @Test func `after a while the memory has the newest by itself, and nothing is left in RAM`() async throws {
        let place = try ScratchFolder()
        let disk = try await LoopDisk(in: place.path, .ext4)
        do {
            let scratch = try ScratchFolder(in: disk.path)
            let store = scratch.path.appending("Recipes.sqlite")
            try TestStore.make(at: store, sql: "CREATE TABLE recipe(title); INSERT INTO recipe VALUES ('Soup')")
            let options = Producer.Options()
            let memory = BaseMemory(at: scratch.path.appending("bases"))
            let recent = try #require(
                RecentBases(before: memory, options.copy, within: 1_000_000, writingAfter: .milliseconds(300)))
            let bases = RememberedBases(
                in: memory, of: store, named: StoreName(suggestedBy: store), CopyProfile(), before: recent)
            var digests: [ContentDigest] = []
            for number in 1...3 {
                try TestStore.make(at: store, sql: "INSERT INTO recipe VALUES ('\(number)')")
                let copy = try await self.copy(of: store, in: recent, else: options.copy)
                #expect(recent.holds(copy.path(ofPart: 0)))
                digests.append(copy.manifest.store.sha256)
                bases.acknowledged(copy.manifest, copy: copy.path(ofPart: 0), by: "watch")
                // The first is written at once.
                #expect(try memory.records().map(\.sha256) == Array(digests.prefix(1)))
            }
            let deadline = ContinuousClock.now + .seconds(10)
            // It leaves RAM once it is on the disk.
            while try memory.records().map(\.sha256) != Array(digests.suffix(1)) || recent.copies(of: bases.key) != [],
                .now < deadline
            {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try memory.records().map(\.sha256) == Array(digests.suffix(1)))
            #expect(recent.copies(of: bases.key) == [])
            // What was destroyed meanwhile does not come back.
            try TestStore.make(at: store, sql: "INSERT INTO recipe VALUES ('Bread')")
            let copy = try await self.copy(of: store, in: recent, else: options.copy)
            bases.acknowledged(copy.manifest, copy: copy.path(ofPart: 0), by: "watch")
            _ = try memory.erase(storeAt: bases.key.store)
            try PlatformCalls.removeFile(store)
            await recent.settle()
            #expect(try memory.records() == [])
            #expect(recent.copies(of: bases.key) == [])
        }
        try await disk.remove()
    }

    /// Takes a copy as a sender does. What other processes take of the same RAM meanwhile may leave too little: then once more.
    private func copy(
        of store: FilePath, in recent: RecentBases, else copying: CopyOptions
    ) async throws -> PreparedCopy {
        for _ in 0..<20 {
            let room = recent.room(for: try SourceStore(at: store), CopyOptions())
            if let copy = try? await PreparedCopy(of: store, room?.copying ?? copying) { return copy }
        }
        return try await PreparedCopy(of: store, copying)
    }

    /// Bytes of the files in a folder, each of them once.
    private func size(of folder: FilePath) throws -> Int64 {
        var files: [FileStatus.Identity: Int64] = [:]
        func look(_ folder: FilePath) throws {
            for name in try Folder.names(in: folder) {
                let path = folder.appending(text: name)
                let status = try PlatformCalls.status(of: path)
                if status.kind == .folder { try look(path) } else { files[status.identity] = status.size }
            }
        }
        try look(folder)
        return files.values.reduce(0, +)
    }
}

extension RecentBasesTests.Place {
    fileprivate init(_ record: BaseRecord) {
        self.init(store: record.key.name.text, receiver: record.receiver)
    }
}
