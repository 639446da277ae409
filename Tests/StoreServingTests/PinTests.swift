import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreServing
import SystemPackage
import TestSupport
import Testing

@Suite struct PinTests {
    private let inbox: SampleInbox
    private let coordinator: StoreCoordinator

    init() throws {
        inbox = try SampleInbox(keeping: 1)
        coordinator = StoreCoordinator(inbox: inbox.root)
    }

    private func rows(_ pin: Pin) throws -> Int? {
        try pin.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
    }

    @Test func `all reads through a pin see its generation, and it stays until the pin goes`() async throws {
        try await inbox.install(rows: 1)
        let pin = try coordinator.pin()
        let second = try StoreCoordinator(inbox: inbox.root).pin("Recipes")
        for rows in 2...5 {
            try await inbox.install(rows: rows)
            #expect(try self.rows(pin) == 1)
            #expect(try await second.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
            #expect(inbox.numbers() == [1, rows])
        }
        #expect(pin.generation.number == 1)
        #expect(pin.manifest.store.sha256 == pin.generation.manifest.store.sha256)
        pin.release()
        try await inbox.install(rows: 6)
        #expect(inbox.numbers() == [1, 6])
        #expect(throws: CoordinatorError.released) { try rows(pin) }
        #expect(throws: CoordinatorError.released) { try pin.externalFile(SampleWords.file(1)) }
        second.release()
        second.release()
        try await inbox.install(rows: 7)
        #expect(inbox.numbers() == [7])
    }

    @Test func `a pin that is dropped gives its generation back`() async throws {
        try await inbox.install(rows: 1)
        _ = try coordinator.pin()
        try await inbox.install(rows: 2)
        #expect(inbox.numbers() == [2])
    }

    @Test func `an external file is reached through the pin, after a switch too`() async throws {
        let names = try (1...5).map(SampleWords.file)
        let words = SampleWords(
            files: [names[0]: "one", names[1]: ""], missing: [names[2]],
            omissions: Omissions(history: false, tables: [], externalFiles: [.init(name: names[3], size: 70_000_000)]))
        try await inbox.install(rows: 1, words)
        let pin = try coordinator.pin()
        try await inbox.install(rows: 2)
        let path = try pin.externalFile(names[0])
        #expect(FileManager.default.contents(atPath: path.string) == Data("one".utf8))
        #expect(try PlatformCalls.status(of: pin.externalFile(names[1])).size == 0)
        #expect(throws: CoordinatorError.externalFileMissingAtProducer(names[2])) {
            try pin.externalFile(names[2])
        }
        #expect(throws: CoordinatorError.externalFileLeftOut(names[3], size: 70_000_000)) {
            try pin.externalFile(names[3])
        }
        #expect(throws: CoordinatorError.noExternalFile(names[4])) { try pin.externalFile(names[4]) }
    }

    @Test func `a generation that is being removed is not pinned, but the next one`() async throws {
        try await inbox.install(rows: 1)
        let folder = try Inbox(at: inbox.root).current(of: #require(StoreName("Recipes")))?.path ?? ""
        guard let pruner = try FolderLock.take(.exclusive, on: folder) else { throw SampleWords.Bad() }
        let coordinator = coordinator
        async let pin = Task.detached { try coordinator.pin() }.value
        try await inbox.install(rows: 2)
        _ = consume pruner
        #expect(try await pin.generation.number == 2)
    }

    @Test(arguments: ["{}", "no JSON", "", "[[[[", "{\"name\":\"Other\"}"])
    func `a manifest that is none stops pins, and no reads`(text: String) async throws {
        let generation = try await inbox.install(rows: 3)
        let manifest = generation.path.appending("manifest.json")
        try PlatformCalls.removeFile(manifest)
        try Data(text.utf8).write(to: URL(fileURLWithPath: manifest.string))
        #expect(try await coordinator.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 3)
        #expect(throws: CoordinatorError.self) { try coordinator.pin() }
    }

    @Test func `a manifest of another store or generation is no manifest`() async throws {
        let generation = try await inbox.install(rows: 3)
        let other = try await inbox.install("Other", rows: 3)
        let again = try await inbox.install("Again", rows: 4)
        let manifest = generation.path.appending("manifest.json")
        for path in [other.path, again.path] {
            try PlatformCalls.removeFile(manifest)
            try FileManager.default.copyItem(
                atPath: path.appending("manifest.json").string, toPath: manifest.string)
            #expect(
                throws: CoordinatorError.inbox(.badManifest(manifest, flaw: "it is of another generation"))
            ) { try coordinator.pin("Recipes") }
        }
    }

    @Test func `a pin of a process that is killed is gone`() async throws {
        try await withTaskExecutorPreference(TestThreads.shared) { try await pinAndBeKilled() }
    }

    private func pinAndBeKilled() async throws {
        try await inbox.install(rows: 1)
        let (root, pinned, end) = (inbox.root, inbox.root.appending("pinned"), inbox.root.appending("end"))
        async let holder: Void = {
            await #expect(processExitsWith: .signal(SIGKILL)) { [root = root.string as String] in
                let pin = try StoreCoordinator(inbox: FilePath(root)).pin()
                _ = try OpenFile.creating(FilePath(root).appending("pinned"))
                try await Waiting.untilThere(FilePath(root).appending("end"))
                withExtendedLifetime(pin) { _ = kill(getpid(), SIGKILL) }
            }
        }()
        try await Waiting.untilThere(pinned)
        try await inbox.install(rows: 2)
        #expect(inbox.numbers() == [1, 2])
        _ = try OpenFile.creating(end)
        await holder
        try await inbox.install(rows: 3)
        #expect(inbox.numbers() == [3])
    }
}
