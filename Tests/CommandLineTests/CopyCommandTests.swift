import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// `copy`: a compact copy on the same device.
@Suite struct CopyCommandTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    @Test func `its path goes to standard output`() async throws {
        try desk.makeStore()
        let outcome = try await desk.run("copy", "Recipes.sqlite", "--to", "backups/daily").expectSuccess()
        #expect(outcome.lines.count == 1)
        let path = try #require(outcome.lines.first)
        #expect(path.wholeMatch(of: /backups\/daily\/Recipes-\d{8}T\d{6}\.sqlite/) != nil)
        #expect(try StoreContent(of: desk.path.pushing(FilePath(path))) == StoreContent(of: desk["Recipes.sqlite"]))
        #expect(try Folder.names(in: desk["backups/daily"]).count == 1)
        #expect(try desk.leftovers == [])
        let objects = try await desk.run("copy", "Recipes.sqlite", "--to", "more", "--json").objects()
        #expect(objects.count == 1 && (objects[0]["path"] as? String)?.hasPrefix("more/Recipes-") == true)
    }

    @Test func `external files go beside it`() async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        let uuid = try sample.addPhoto(key: 1, content: Data("a photo".utf8))
        let outcome = try await desk.run("copy", "Photos.sqlite", "--to", "copies").expectSuccess()
        let copy = FilePath(try #require(outcome.lines.first))
        let support = ".\(copy.stem ?? "")_SUPPORT"
        #expect(Set(try Folder.names(in: desk["copies"])) == [copy.lastComponent?.string ?? "", support])
        let file = desk["copies/\(support)/_EXTERNAL_DATA/\(uuid)"]
        #expect(try String(contentsOfFile: file.string, encoding: .utf8) == "a photo")
        // The copy is itself a store that can be shipped.
        try await desk.run("send", copy.string, "--to", "./a").expectSuccess()
    }

    @Test func `a folder that is a file is an error`() async throws {
        try desk.makeStore()
        let outcome = try await desk.run("copy", "Recipes.sqlite", "--to", "Recipes.sqlite")
        outcome.expectFailure(
            73, "cannot make the folder Recipes.sqlite: Not a directory",
            hint: "a part of the path is a file, not a folder: choose another path")
        #expect(try desk.leftovers == [])
    }
}
