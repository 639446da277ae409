import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreServing
import SystemPackage
import TestSupport
import Testing

/// Every way of noticing; none of the tests waits for the second look.
@Suite struct ChangeTests {
    static let ways: [Watching] = [.automatic, .polling(every: .milliseconds(5))]

    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func coordinator(_ way: Watching) -> StoreCoordinator {
        var options = StoreCoordinator.Options()
        options.watching = way
        return StoreCoordinator(inbox: scratch.path.appending("inbox"), options: options)
    }

    @Test(arguments: ways)
    func `each switch is told, with what is different`(way: Watching) async throws {
        let inbox = try SampleInbox(in: scratch)
        try await inbox.install(rows: 1)
        let told = Told(waitingFor: try coordinator(way).changes())
        for number in 2...6 {
            let words = SampleWords(metadata: ["number": "\(number)"])
            let generation = try await inbox.install(rows: number, words)
            let change = try await told.generation()
            #expect(change.from?.number == number - 1)
            #expect(change.to.number == number)
            #expect(change.to.sha256 == generation.manifest.store.sha256)
            #expect(!change.isStepBack)
            #expect(change.difference.tables?.map(\.name) == ["t"])
            #expect(change.difference.tables?.first?.rowsBefore == Int64(number - 1))
            #expect(change.difference.tables?.first?.rowsAfter == Int64(number))
            #expect(change.difference.metadata["number"]?.after == "\(number)")
        }
    }

    @Test(arguments: ways)
    func `who asks late is told once, from the last seen to the newest`(way: Watching) async throws {
        let inbox = try SampleInbox(keeping: 1, in: scratch)
        try await inbox.install(rows: 1)
        try await inbox.install("Albums", rows: 1)
        let coordinator = coordinator(way)
        let (told, other) = (Told(try coordinator.changes()), Told(try coordinator.changes()))
        for rows in 2...9 { try await inbox.install(rows: rows) }
        let first = try await told.generation()
        #expect([first.from?.number, first.to.number] == [1, 9])
        for rows in 10...12 {
            try await inbox.install(rows: rows)
            try await inbox.install("Albums", rows: rows)
        }
        // Each subscriber has seen what it has seen.
        var ends: [String: [Int?]] = [:]
        for _ in 0..<2 {
            let change = try await told.generation()
            ends[change.store.text] = [change.from?.number, change.to.number]
        }
        #expect(ends == ["Recipes": [9, 12], "Albums": [1, 4]])
        ends = [:]
        for _ in 0..<2 {
            let change = try await other.generation()
            ends[change.store.text] = [change.from?.number, change.to.number]
        }
        #expect(ends == ["Recipes": [1, 12], "Albums": [1, 4]])
    }

    @Test(arguments: ways)
    func `an inbox and a store that come later are told, as is one that goes`(way: Watching) async throws {
        let told = Told(waitingFor: try coordinator(way).changes())
        for _ in 0..<3 {
            do {
                let inbox = try SampleInbox(in: scratch)
                try await inbox.install(rows: 1)
                let first = try await told.generation()
                #expect([first.from?.number, first.to.number] == [nil, 1])
                try await inbox.install("Albums", rows: 1)
                #expect(try await told.generation().store.text == "Albums")
                try await inbox.install("Albums", rows: 2)
                #expect(try await told.generation().to.number == 2)
            }
            let aside = scratch.path.appending("aside")
            try PlatformCalls.rename(scratch.path.appending("inbox"), to: aside)
            #expect(try await [told.next().store.text, told.next().store.text].sorted() == ["Albums", "Recipes"])
            try PlatformCalls.rename(aside, to: scratch.path.appending("inbox"))
            #expect(try await [told.generation().to.number, told.generation().to.number].sorted() == [1, 2])
            try Folder.removeTree(at: scratch.path.appending("inbox"))
            let gone: Set<StoreChange> = try await [told.next(), told.next()]
            let expected = try ["Albums", "Recipes"].map { StoreChange.removed(try #require(StoreName($0))) }
            #expect(gone == Set(expected))
        }
    }

    @Test(arguments: ways)
    func `an inbox several folders below what is there is told`(way: Watching) async throws {
        var options = StoreCoordinator.Options()
        options.watching = way
        let deep = scratch.path.appending("a/b/c")
        let told = Told(waitingFor: try StoreCoordinator(inbox: deep.appending("inbox"), options: options).changes())
        try Folder.make(deep)
        try PlatformCalls.rename(try { try SampleInbox(in: scratch).root }(), to: scratch.path.appending("other"))
        let inbox = try SampleInbox(in: scratch)
        try await inbox.install(rows: 1)
        try PlatformCalls.rename(inbox.root, to: deep.appending("inbox"))
        #expect(try await told.generation().to.number == 1)
    }

    @Test(arguments: ways)
    func `going back is told as such`(way: Watching) async throws {
        let inbox = try SampleInbox(in: scratch)
        let first = try await inbox.install(rows: 1)
        try await inbox.install(rows: 2)
        let told = Told(waitingFor: try coordinator(way).changes())
        let aside = scratch.path.appending("aside")
        try PlatformCalls.symbolicLink(at: aside, to: FilePath("generations/\(first.path.lastComponent?.string ?? "")"))
        try PlatformCalls.rename(aside, to: inbox.folder().appending("current"))
        let change = try await told.generation()
        #expect([change.from?.number, change.to.number] == [2, 1])
        #expect(change.isStepBack)
    }

    @Test(arguments: ways)
    func `a generation without a manifest is told, and the next one as usual`(way: Watching) async throws {
        let inbox = try SampleInbox(in: scratch)
        let first = try await inbox.install(rows: 1)
        let told = Told(try coordinator(way).changes())
        let aside = scratch.path.appending("aside")
        let broken = inbox.folder().appending("generations/2-00000000")
        try PlatformCalls.makeFolder(broken)
        try PlatformCalls.symbolicLink(at: aside, to: "generations/2-00000000")
        try PlatformCalls.rename(aside, to: inbox.folder().appending("current"))
        guard case .unreadable(first.manifest.name, 2, _) = try await told.next() else {
            Issue.record("an unreadable generation")
            return
        }
        try await inbox.install(rows: 3)
        let change = try await told.generation()
        #expect([change.from?.number, change.to.number] == [1, 3])
    }

    @Test func `a file that was rewritten is told once, however often it was`() async throws {
        let path = scratch.path.appending("Recipes.sqlite")
        try TestStore.make(at: path, sql: "CREATE TABLE t(a)")
        let coordinator = try StoreCoordinator(files: [.live(path)])
        let told = Told(try coordinator.changes())
        for _ in 0..<3 {
            #expect(try await coordinator.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 0)
            for _ in 0..<5 { try coordinator.noteRewritten() }
            #expect(try await told.next() == .rewritten(#require(StoreName("Recipes"))))
        }
        #expect(throws: CoordinatorError.noSuchStore("Soups")) { try coordinator.noteRewritten("Soups") }
    }

    @Test func `a task that is cancelled is told nothing more`() async throws {
        let changes = try coordinator(.automatic).changes()
        let task = Task {
            var count = 0
            for await _ in changes { count += 1 }
            return count
        }
        task.cancel()
        #expect(await task.value == 0)
    }

    @Test func `subscribers that are gone leave nothing open`() async {
        // A process of its own, as other tests open files.
        await #expect(processExitsWith: .success) {
            let inbox = try SampleInbox()
            let coordinator = StoreCoordinator(inbox: inbox.root)
            try await inbox.install(rows: 1)
            func subscribe(_ count: Int) async throws {
                for rows in 1...count {
                    let told = Told(try coordinator.changes())
                    let other = Told(try coordinator.changes())
                    try await inbox.install(rows: rows % 7)
                    _ = try await (told.next(), other.next())
                }
            }
            try await subscribe(3)
            let before = try await OpenDescriptors.settle(at: 0, within: .seconds(2))
            try await subscribe(30)
            #expect(try await OpenDescriptors.settle(at: before) <= before)
        }
    }
}
