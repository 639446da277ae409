import Foundation
import ShipStore
import SystemPackage
import TestSupport
import Testing

@testable import ShipStoreTransfers
@testable import TransferSample

/// What the article on shipping to a watch tells a programmer to write.
@Suite struct WatchArticleTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: Self.root.pushing(FilePath(path)).string, encoding: .utf8)
    }

    /// They are built with the tests, as another package would build them: without what is open to this package only.
    @Test func `the code of each step is what is compiled`() throws {
        let article = try text("Sources/ShipStore/ShipStore.docc/ShipToAWatch.md")
        let steps = article.components(separatedBy: "\n```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```\n").first
        }
        let files = ["PhoneTransfers", "PhoneApp", "WatchTransfers", "Recipes", "WatchApp"]
        #expect(try steps == files.map { try text("Tests/TransferSample/\($0).swift") })
        #expect(try text("Package.swift").contains(#"path: "Tests/TransferSample", packageAccess: false)"#))
    }

    @Test func `with it, a watch shows the rows of a Core Data store, and then those that changed`() async throws {
        let scratch = try ScratchFolder()
        let store = scratch.path.appending("Recipes.sqlite")
        _ = try CoreDataSample(at: store)
        let arriving = try scratch.folder("arriving")
        let (phoneLine, watchLine) = (StandInLine(scratch: arriving), StandInLine(scratch: arriving))
        let phone = try PhoneTransfers(
            of: URL(fileURLWithPath: store.string), over: StandInSession(phoneLine, watchLine),
            in: URL(fileURLWithPath: scratch.folder("phone").string))
        let watch = try WatchTransfers(
            over: StandInSession(watchLine, phoneLine), in: URL(fileURLWithPath: scratch.folder("watch").string))
        #expect(try await watch.recipes.names() == [])
        func exchange() async throws {
            for _ in 0..<5 {
                _ = await phone.sender.step()
                while !phoneLine.isEmpty { try phoneLine.deliver(from: phone.sender, to: watch.receiver) }
                _ = await watch.receiver.step()
                await watch.receiver.catchUp()
                while !watchLine.isEmpty { try watchLine.deliver(from: watch.receiver, to: phone.sender) }
            }
        }
        try await exchange()
        #expect(try await watch.recipes.names() == ["Pie", "Soup", "Tea"])
        var changes = try watch.recipes.changes().makeAsyncIterator()
        _ = await changes.next()
        try TestStore.make(at: store, sql: "INSERT INTO ZRECIPE VALUES (4, 1, 1, 'Bread', NULL)")
        phone.sender.storeDidChange()
        // Changes are gathered for two seconds.
        try await Task.sleep(for: .seconds(2.1))
        try await exchange()
        _ = await changes.next()
        #expect(try await watch.recipes.names() == ["Bread", "Pie", "Soup", "Tea"])
    }
}
