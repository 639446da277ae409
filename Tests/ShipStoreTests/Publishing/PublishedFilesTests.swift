import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Publications of stores with external files.
@Suite struct PublishedFilesTests {
    private static func files(_ folder: FilePath) throws -> [String: Data] {
        let folder = folder.appending(".Photos_SUPPORT/_EXTERNAL_DATA")
        let names = try Folder.names(in: folder)
        return try Dictionary(
            uniqueKeysWithValues: names.map {
                ($0, try Data(contentsOf: URL(fileURLWithPath: folder.appending($0).string)))
            })
    }

    @Test(arguments: [false, true])
    func `external files that a follower has do not come again`(isEncrypted: Bool) async throws {
        let round = try PublicationRound(seed: 70, isEncrypted: isEncrypted)
        var random = RepeatableRandom(seed: 70)
        let sample = try CoreDataSample(at: round.scratch.path.appending("Photos.sqlite"))
        let first = try sample.addPhoto(key: 1, content: Data(random.bytes(300_000)))
        /// - Returns: The bytes up, and down to the first follower.
        func publish() async throws -> (up: Int, down: Int) {
            let before = round.storage.traffic
            let publisher = try round.publisher(to: round.storage, at: round.place, store: "Photos.sqlite")
            _ = try await publisher.publish()
            let published = round.storage.traffic
            try await round.look(0)
            #expect(try Self.files(round.scratch.path.appending("inbox0")) == Self.files(round.scratch.path))
            return (published.up - before.up, round.storage.traffic.down - published.down)
        }
        #expect(try await publish().up > 300_000)
        for number in 1...3 {
            try TestStore.make(at: sample.path, sql: "UPDATE ZRECIPE SET ZNAME = 'Tea \(number)' WHERE Z_PK = 1")
            let bytes = try await publish()
            #expect(bytes.up < 10_000 && bytes.down < 10_000)
        }
        // What is new comes, whatever its name.
        try sample.addPhoto(key: 2, content: Data(random.bytes(50_000)))
        let bytes = try await publish()
        #expect((50_000..<100_000).contains(bytes.down) && bytes.up < 200_000)
        try TestStore.make(at: sample.path, sql: "DELETE FROM ZPHOTO WHERE Z_PK = 1")
        try PlatformCalls.removeFile(sample.file("_EXTERNAL_DATA", first))
        #expect(try await publish().down < 10_000)
        // Who begins comes by the same steps.
        try await round.look(1)
        #expect(try Self.files(round.scratch.path.appending("inbox1")) == Self.files(round.scratch.path))
        let store = "Photos.sqlite"
        let received = round.scratch.path.appending("inbox1").appending(store)
        #expect(try StoreContent(of: received) == StoreContent(of: round.scratch.path.appending(store)))
    }
}
