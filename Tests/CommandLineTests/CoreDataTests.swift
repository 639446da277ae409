import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A Core Data store with external files, over TCP.
@Suite struct CoreDataTests {
    private func file(_ desk: Desk, _ uuid: String) -> FilePath { desk["inbox/.Photos_SUPPORT/_EXTERNAL_DATA/\(uuid)"] }

    private func inode(_ path: FilePath) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path.string)[.systemFileNumber] as? Int)
    }

    @Test func `two ways to name one external file are told before anything is made`() async throws {
        let desk = try Desk()
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        let uuid = try sample.addPhoto(key: 1, content: Data("photo".utf8))
        try sample.add(key: 2, cell: CoreDataSample.reference(2, uuid.lowercased()))
        let folder = desk[".Photos_SUPPORT/_EXTERNAL_DATA"]
        try OpenFile.copy(folder.appending(uuid), to: folder.appending(uuid.lowercased()))
        for arguments in [
            ["send", "Photos.sqlite", "--to", "./a.shipment"], ["copy", "Photos.sqlite", "--keep-in", "kept"],
        ] {
            let outcome = try await desk.run(arguments)
            #expect(outcome.status == .exited(65), "\(outcome.stderr)")
            #expect(outcome.complaints[0].contains("name an external file in two ways"), "\(outcome.stderr)")
        }
        #expect(try !PlatformCalls.isThere(desk["a.shipment"]) && !PlatformCalls.isThere(desk["kept"]))
    }

    @Test func `external files are installed with it, and those that stay come but once`() async throws {
        let desk = try Desk()
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        let photo = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) })
        let kept = try sample.addPhoto(key: 1, content: photo)
        let gone = try sample.addPhoto(key: 2, content: Data("gone soon".utf8))
        let receiver = try await desk.listen()
        try await desk.run("send", "Photos.sqlite", "--to", receiver.address).expectSuccess()
        #expect(try Data(contentsOf: URL(fileURLWithPath: file(desk, kept).string)) == photo)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file(desk, gone).string)) == Data("gone soon".utf8))
        #expect(try PlatformCalls.status(of: desk["inbox/.Photos_SUPPORT"]).kind == .symbolicLink)
        let before = try inode(file(desk, kept))

        try TestStore.make(at: desk["Photos.sqlite"], sql: "DELETE FROM ZPHOTO WHERE Z_PK = 2")
        let new = try sample.addPhoto(key: 3, content: Data("new".utf8))
        let second = try await desk.run("send", "Photos.sqlite", "--to", receiver.address, "--json", "--quiet")
        second.expectSuccess()
        let wire = try #require(try second.events().last?["wire"] as? Int)
        #expect(wire < 20_000)
        #expect(try inode(file(desk, kept)) == before)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file(desk, new).string)) == Data("new".utf8))
        #expect((try? PlatformCalls.status(of: file(desk, gone))) == nil)
        try await receiver.stop().expectSuccess()

        let verified = try await desk.run("verify", "inbox").expectSuccess()
        #expect(verified.lines.count == 2 && verified.lines.allSatisfy { $0.hasPrefix("whole    Photos, generation ") })
        #expect(verified.lines.allSatisfy { $0.hasSuffix(")") && $0.contains(" and 2 external files (") })
        #expect(try desk.hasInstalled("Photos", from: "Photos.sqlite"))
        #expect(try desk.leftovers == [])
    }
}
