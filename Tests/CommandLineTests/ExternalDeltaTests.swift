import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// External files that change, between two programs: what differs from the file that was in the same place goes, and whatever becomes
/// of the bases, what is installed is what the store has.
@Suite struct ExternalDeltaTests {
    private let desk: Desk
    private let sample: CoreDataSample
    private static let key = 1

    init() throws {
        desk = try Desk()
        sample = try CoreDataSample(at: desk["Notes.sqlite"])
        try sample.addPhoto(key: Self.key, content: Self.text(seed: 1))
        try sample.addPhoto(key: 2, content: Self.text(seed: 2))
    }

    /// Some 400 kB of words.
    private static func text(seed: UInt64, words: Int = 60_000) -> Data {
        var random = RepeatableRandom(seed: seed)
        let all = (0..<2000).map { _ in String(random.next() % 100_000_000, radix: 36) }
        return Data((0..<words).map { _ in all[Int(random.next() % 2000)] }.joined(separator: " ").utf8)
    }

    /// As Core Data does it: a new file takes the place of the old one.
    private func replace(_ content: Data, in desk: Desk? = nil) throws {
        let sample = CoreDataSample((desk ?? self.desk)["Notes.sqlite"])
        let uuid = UUID().uuidString
        try content.write(to: URL(filePath: sample.file("_EXTERNAL_DATA", uuid).string))
        let queue = try TestStore.open(sample.path)
        let old = try queue.read { try Data.fetchOne($0, sql: "SELECT ZDATA FROM ZPHOTO WHERE Z_PK = \(Self.key)") }
        try queue.writeWithoutTransaction {
            try $0.execute(
                sql: "UPDATE ZPHOTO SET ZDATA = ? WHERE Z_PK = \(Self.key)",
                arguments: [CoreDataSample.reference(2, uuid)])
        }
        try queue.close()
        let name = String(decoding: try #require(old).dropFirst().prefix(36), as: UTF8.self)
        try PlatformCalls.removeFile(sample.file("_EXTERNAL_DATA", name))
    }

    /// One with a word more in the middle.
    private func edited(_ content: Data, _ word: String) -> Data {
        var content = content
        content.insert(contentsOf: Array("<\(word)>".utf8), at: content.count / 2)
        return content
    }

    /// - Returns: Bytes on the wire, and how often something had to go again.
    private func send(
        _ options: String..., to receiver: String, from sender: Desk? = nil
    ) async throws -> (wire: Int, restarts: Int) {
        let outcome = try await (sender ?? desk).run(["send", "Notes.sqlite", "--to", receiver, "--json"] + options)
        outcome.expectSuccess()
        let events = try outcome.events()
        let wire = try #require(events.last?["wire"] as? Int)
        return (wire, events.filter { ["restarted", "started-again"].contains($0["event"] as? String) }.count)
    }

    /// Whether the inbox has the very files to which the store refers.
    private func expectInstalled(from sender: Desk? = nil, _ location: SourceLocation = #_sourceLocation) throws {
        let sender = sender ?? desk
        func files(_ folder: FilePath) throws -> [String: Data] {
            let names = try Folder.names(in: folder)
            return try Dictionary(
                uniqueKeysWithValues: names.map {
                    ($0, try Data(contentsOf: URL(filePath: folder.appending($0).string)))
                })
        }
        let inbox = try files(desk["inbox/.Notes_SUPPORT/_EXTERNAL_DATA"])
        #expect(inbox == (try files(sender[".Notes_SUPPORT/_EXTERNAL_DATA"])), sourceLocation: location)
        #expect(
            try StoreContent(of: desk["inbox/Notes.sqlite"]) == StoreContent(of: sender["Notes.sqlite"]),
            sourceLocation: location)
    }

    private struct Line: Decodable {
        let externalFiles: Int?
        let externalSize: Int?
    }

    private func remembered() async throws -> [Line] {
        try await desk.run("bases", "--json").lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    /// The remembered files, without copies and manifests.
    private func rememberedFiles() throws -> [FilePath] {
        let objects = desk.memory.appending("objects")
        return try Folder.names(in: objects).map { objects.appending($0) }.filter {
            try PlatformCalls.status(of: $0).size > 100_000
        }
    }

    private func damage(_ path: FilePath) throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path.string)
        let file = try FileHandle(forUpdating: URL(filePath: path.string))
        try file.seek(toOffset: 1000)
        try file.write(contentsOf: [0])
        try file.close()
    }

    /// As large as it was, so that only its digest shows it.
    @Test(arguments: [false, true]) func `a file that was damaged in the inbox comes again`(changes: Bool) async throws
    {
        let receiver = try await desk.listen()
        _ = try await send(to: receiver.address)
        let folder = desk["inbox/.Notes_SUPPORT/_EXTERNAL_DATA"]
        let names = try Folder.names(in: folder).sorted()
        try damage(folder.appending(names[0]))
        if changes { try sample.addPhoto(key: 3, content: Self.text(seed: 3, words: 30_000)) }
        _ = try await send(to: receiver.address)
        try expectInstalled()
        for name in try Folder.names(in: folder) {
            #expect(try PlatformCalls.status(of: folder.appending(name)).permissions == .ownerRead, "\(name)")
        }
        // The generation before still has it, if it is another one.
        try await desk.run("verify", "inbox/.ship-store/Notes/current").expectSuccess()
        #expect(try desk.leftovers == [])
    }

    @Test func `what differs goes, again and again`() async throws {
        let receiver = try await desk.listen()
        let whole = try await send(to: receiver.address)
        #expect(whole.wire > 100_000)
        #expect(try await remembered().first?.externalFiles == 2)
        var content = Self.text(seed: 1)
        for round in 1...3 {
            content = edited(content, "round \(round)")
            try replace(content)
            let next = try await send(to: receiver.address)
            #expect(next.wire < 2000 && next.restarts == 0, "\(next)")
            try expectInstalled()
            let lines = try await remembered()
            #expect(lines.count == 1 && lines.first?.externalFiles == 2)
            #expect(try rememberedFiles().count == 2, "what no copy needs is gone")
        }
        // Another value in its place has nothing in common, and costs no more than whole.
        try replace(Self.text(seed: 7))
        let other = try await send(to: receiver.address)
        #expect(other.wire < whole.wire * 6 / 10, "\(other)")
        try expectInstalled()
        try await desk.run("verify", "inbox").expectSuccess()
        #expect(try desk.leftovers == [])
        try await desk.run("destroy", "Notes.sqlite").expectSuccess()
        #expect(desk.remembered == [])
    }

    @Test func `what was rolled back is built on all the same, and what is installed is right`() async throws {
        let receiver = try await desk.listen()
        _ = try await send(to: receiver.address)
        var content = edited(Self.text(seed: 1), "one")
        try replace(content)
        _ = try await send(to: receiver.address)
        try await desk.run("rollback", "Notes", "--into", "inbox").expectSuccess()
        try await desk.run("rollback", "Notes", "--into", "inbox", "--release").expectSuccess()
        content = edited(content, "two")
        try replace(content)
        let next = try await send(to: receiver.address)
        #expect(next.wire < 2000, "\(next)")
        try expectInstalled()
    }

    @Test func `a remembered file that is damaged is not built on, and is remembered anew`() async throws {
        let receiver = try await desk.listen()
        _ = try await send(to: receiver.address)
        for file in try rememberedFiles() { try damage(file) }
        var content = edited(Self.text(seed: 1), "one")
        try replace(content)
        let next = try await send(to: receiver.address)
        #expect(next.wire > 50_000)
        try expectInstalled()
        content = edited(content, "two")
        try replace(content)
        #expect(try await send(to: receiver.address).wire < 2000)
        try expectInstalled()
    }

    @Test func `a receiver whose file is damaged asks for it once more`() async throws {
        let receiver = try await desk.listen()
        _ = try await send(to: receiver.address)
        let folder = desk["inbox/.Notes_SUPPORT/_EXTERNAL_DATA"]
        for name in try Folder.names(in: folder) { try damage(folder.appending(name)) }
        // The other file is damaged as well, and would not come again.
        try TestStore.make(at: desk["Notes.sqlite"], sql: "DELETE FROM ZPHOTO WHERE Z_PK = 2")
        for name in try Folder.names(in: sample.supportFolder.appending("_EXTERNAL_DATA")) {
            let path = sample.file("_EXTERNAL_DATA", name)
            if try Data(contentsOf: URL(filePath: path.string)) == Self.text(seed: 2) {
                try PlatformCalls.removeFile(path)
            }
        }
        try replace(edited(Self.text(seed: 1), "one"))
        let next = try await send(to: receiver.address)
        #expect(next.wire > 50_000)
        try expectInstalled()
    }

    @Test func `nothing is built on where nothing is to be remembered`() async throws {
        let receiver = try await desk.listen()
        _ = try await send("--no-remember", to: receiver.address)
        try replace(edited(Self.text(seed: 1), "one"))
        #expect(try await send("--no-remember", to: receiver.address).wire > 50_000)
        try expectInstalled()
        #expect(desk.remembered == [])
    }

    @Test func `a sender that knows nothing of the base sends all of it`() async throws {
        let receiver = try await desk.listen()
        _ = try await send(to: receiver.address)
        let other = try Desk()
        for name in ["Notes.sqlite", ".Notes_SUPPORT"] {
            try FileManager.default.copyItem(atPath: desk[name].string, toPath: other[name].string)
        }
        let content = edited(Self.text(seed: 1), "other")
        try replace(content, in: other)
        #expect(try await send(to: receiver.address, from: other).wire > 50_000)
        try expectInstalled(from: other)
        // What the first one remembers is a generation that is kept.
        try replace(edited(Self.text(seed: 1), "first"))
        #expect(try await send(to: receiver.address).wire < 2000)
        try expectInstalled()
    }

    @Test func `what does not deflate, and what is short, is not remembered`() async throws {
        var random = RepeatableRandom(seed: 3)
        try replace(Data(random.bytes(300_000)))
        try sample.addPhoto(key: 3, content: Data("short".utf8))
        let receiver = try await desk.listen()
        _ = try await send(to: receiver.address)
        let lines = try await remembered()
        #expect(lines.count == 1 && lines.first?.externalFiles == 1)
        #expect(lines.first?.externalSize == Self.text(seed: 2).count)
        #expect(try rememberedFiles().count == 1)
    }

    @Test func `in a file all of it goes`() async throws {
        _ = try await desk.run("send", "Notes.sqlite", "--to", "first.shipment")
        try replace(edited(Self.text(seed: 1), "one"))
        let second = try await desk.run(
            "send", "Notes.sqlite", "--to", "second.shipment", "--since", "first.shipment", "--json"
        ).expectSuccess()
        #expect(try #require(try second.events().last?["wire"] as? Int) > 100_000)
        for file in ["first.shipment", "second.shipment"] {
            try await desk.run("receive", "--into", "inbox", "--from", file).expectSuccess()
        }
        try expectInstalled()
    }

    @Test(arguments: [0, 1, 2, 3]) func `a delta that is cut goes on where it broke off`(part: Int) async throws {
        // What is new of it is much, so that what has come is worth keeping.
        let receiver = try await desk.listen()
        let old = Self.text(seed: 1, words: 300_000)
        try replace(old)
        _ = try await send(to: receiver.address)
        var content = old
        content.insert(contentsOf: Self.text(seed: 9, words: 100_000), at: old.count / 2)
        try replace(content)
        let relay = try await CuttingRelay(to: receiver, cuts: [90_000 + part * 20_000], rate: 400_000)
        let cut = try await desk.run("send", "Notes.sqlite", "--to", relay.address, "--json", "--level", "6")
        #expect(cut.status == .exited(76), "\(cut.stderr)")
        try await desk.waitUntil { try desk.leftovers.contains { $0.hasSuffix("/stream") } }
        let rest = try await desk.run("send", "Notes.sqlite", "--to", relay.address, "--json", "--level", "6")
        rest.expectSuccess()
        #expect(rest.stdout.contains(#""event":"resumed""#), "\(rest.stdout)")
        try expectInstalled()
        let carried = try await relay.end()
        #expect(carried.count == 2 && carried.reduce(0, +) < 350_000, "\(carried)")
        #expect(try desk.leftovers == [])
    }
}
