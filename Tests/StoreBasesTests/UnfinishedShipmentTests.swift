import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import StoreBases

@Suite struct UnfinishedShipmentTests {
    private let scratch: ScratchFolder
    private let memory: BaseMemory
    private let key = BaseKey()

    init() throws {
        scratch = try ScratchFolder()
        memory = BaseMemory(at: scratch.path.appending("bases"))
    }

    /// A copy that is being sent, in a temporary folder of its own.
    private final class Sent {
        let sample: Acknowledged
        let place: TemporaryFolder
        let file: FilePath

        init(_ sample: Acknowledged, in memory: BaseMemory) throws {
            self.sample = sample
            place = try TemporaryFolder(in: memory.workingFolder(for: 1) ?? "/")
            file = try sample.file(in: place.path)
        }

        func begin(in memory: BaseMemory, as key: BaseKey, by receiver: String = "watch") throws -> Recording {
            Recording(
                try #require(memory.begin(sample.manifest, copy: file, as: key, receiver: receiver, state: [7])))
        }
    }

    /// A shipment with its journal, as a sender has them.
    private final class Recording {
        let shipment: UnfinishedShipment
        private var journal = StreamJournal()

        init(_ shipment: UnfinishedShipment) {
            self.shipment = shipment
            guard let stream = shipment.recorded() else { return }
            journal = StreamJournal(goingOnWith: stream, growing: shipment.mayGrow)
        }

        func begin(_ header: PartStream.Header) {
            journal.begin(header)
            journal.enter(growing: shipment.mayGrow, shipment.makeStream)
        }

        /// - Returns: Whether it is recorded.
        @discardableResult
        func append(_ data: [UInt8], note: UInt64) -> Bool {
            journal.append(data, of: data.count, note: note)
            return journal.isInFile
        }

        func recorded() -> PartStream? { shipment.recorded() }

        func finish() { shipment.finish() }
    }

    private static func header(_ sample: Acknowledged) -> PartStream.Header {
        PartStream.Header(.columns, of: sample.manifest.parts[0])
    }

    /// A shipment that breaks off after so many pieces.
    private func breakOff(
        _ sample: Acknowledged, after pieces: Int = 2, in memory: BaseMemory? = nil, as key: BaseKey? = nil,
        by receiver: String = "watch"
    ) throws {
        let memory = memory ?? self.memory
        let sent = try Sent(sample, in: memory)
        let shipment = try sent.begin(in: memory, as: key ?? self.key, by: receiver)
        shipment.begin(Self.header(sample))
        for piece in 0..<pieces { #expect(shipment.append(Self.piece(piece), note: UInt64(piece))) }
    }

    private static func piece(_ number: Int) -> [UInt8] { Array(repeating: UInt8(number), count: 1000 + number) }

    private func expectEmpty(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try Folder.names(in: memory.folder) == [], sourceLocation: sourceLocation)
    }

    private func age(_ path: FilePath, by seconds: TimeInterval) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: path.string)
    }

    private func streamPath(_ memory: BaseMemory? = nil) throws -> FilePath {
        let memory = memory ?? self.memory
        return memory.objects.appending(try #require(try memory.index().streams.last).id)
    }

    @Test func `what broke off is given back, and gone on with until it is finished`() throws {
        let sample = try Acknowledged("soup", pages: 3)
        try breakOff(sample)
        #expect(memory.copies(of: key).isEmpty, "the receiver has not got it")
        #expect(try memory.records().map(\.unfinishedSize) == [81 + 2 * 12 + 2001])
        #expect(memory.objectNames.count == 3)
        let known = try #require(memory.unfinished(of: key).first)
        #expect(known.manifest == sample.manifest && known.receiver == "watch" && known.state == [7])
        #expect(memory.unfinished(of: BaseKey(name: .tea)).isEmpty)
        #expect(try known.open()?.path.content == sample.bytes)
        do {
            let shipment = Recording(try #require(memory.resume(known)))
            let stream = try #require(shipment.recorded())
            #expect(stream.header == Self.header(sample))
            #expect(stream.entries.map(\.note) == [0, 1])
            #expect(try (0..<2).map { try stream.data($0) } == (0..<2).map(Self.piece))
            #expect(shipment.append(Self.piece(2), note: 2))
            #expect(shipment.recorded()?.entries.count == 3)
            #expect(memory.resume(known) == nil, "somebody is at it")
        }
        let shipment = try #require(memory.resume(known))
        #expect(shipment.recorded()?.entries.map(\.note) == [0, 1, 2])
        let inode = try PlatformCalls.status(of: known.record.path).inode
        #expect(memory.remember(sample.manifest, copy: known.record.path, as: key, receiver: "watch") == .remembered)
        shipment.finish()
        #expect(memory.unfinished(of: key).isEmpty)
        let copy = try memory.onlyCopy(of: key)
        #expect(try copy.open()?.path.content == sample.bytes)
        #expect(try PlatformCalls.status(of: copy.record.path).inode == inode)
        #expect(try memory.records().map(\.unfinishedSize) == [nil])
        #expect(memory.objectNames.count == 2)
    }

    @Test func `one that is not interrupted leaves its copy, which is not written twice, or nothing`() throws {
        let sent = try Sent(try Acknowledged("soup"), in: memory)
        let shipment = try sent.begin(in: memory, as: key)
        shipment.begin(Self.header(sent.sample))
        shipment.append([1], note: 0)
        let inode = try PlatformCalls.status(of: sent.file).inode
        #expect(memory.remember(sent.sample.manifest, copy: sent.file, as: key, receiver: "watch") == .remembered)
        shipment.finish()
        #expect(try PlatformCalls.status(of: memory.onlyCopy(of: key).record.path).inode == inode)
        #expect(memory.objectNames.count == 2)
        let other = try Sent(try Acknowledged("tea"), in: memory)
        try other.begin(in: memory, as: BaseKey(name: .tea)).finish()
        #expect(memory.objectNames.count == 2)
        shipment.finish()
        #expect(try memory.forget { _ in true }.count == 1)
        #expect(memory.objectNames == [])
    }

    @Test func `another part, or another encoding, begins anew`() throws {
        let sent = try Sent(try Acknowledged("soup"), in: memory)
        let shipment = try sent.begin(in: memory, as: key)
        #expect(!shipment.append([1], note: 0), "no part is open")
        #expect(shipment.recorded() == nil)
        shipment.begin(Self.header(sent.sample))
        #expect(shipment.append(Self.piece(50), note: 1))
        let other = PartStream.Header(.blocks, of: sent.sample.manifest.parts[0])
        shipment.begin(other)
        #expect(shipment.append([9], note: 3))
        #expect(shipment.recorded()?.header == other && shipment.recorded()?.entries.map(\.note) == [3])
        #expect(try PlatformCalls.status(of: streamPath()).size == 81 + 12 + 1)
    }

    @Test func `a receiver has one for each store, and two at once do not disturb each other`() throws {
        let first = try Sent(try Acknowledged("one"), in: memory)
        let shipment = try first.begin(in: memory, as: key)
        shipment.begin(Self.header(first.sample))
        try breakOff(try Acknowledged("other"), by: "kiosk")
        let second = try Sent(try Acknowledged("two", counter: 2), in: memory)
        let later = try second.begin(in: memory, as: key)
        later.begin(Self.header(second.sample))
        #expect(memory.unfinished(of: key).map(\.receiver) == ["watch", "kiosk"])
        #expect(memory.unfinished(of: key).first?.manifest == second.sample.manifest)
        // The first one's stream is in use still, and goes with it.
        #expect(try memory.index().streams.count == 3)
        #expect(shipment.append([1], note: 1) && later.append([2], note: 2))
        shipment.finish()
        #expect(memory.unfinished(of: key).count == 2)
        #expect(try memory.index().streams.count == 2)
        #expect(later.append([2], note: 3) && later.recorded()?.entries.count == 2)
    }

    @Test func `after a day it goes, and so does one of the future`() throws {
        for age in [24 * 3600 + 5, -60] {
            try breakOff(try Acknowledged("soup"))
            let known = try #require(memory.unfinished(of: key).first)
            try self.age(try streamPath(), by: TimeInterval(age))
            #expect(memory.unfinished(of: key).isEmpty)
            #expect(memory.resume(known) == nil)
            memory.tidy()
            try expectEmpty()
        }
        try breakOff(try Acknowledged("soup"))
        try age(try streamPath(), by: 24 * 3600 - 60)
        memory.tidy()
        let known = try #require(memory.unfinished(of: key).first)
        // Somebody is at it.
        let shipment = try #require(memory.resume(known))
        try age(try streamPath(), by: 48 * 3600)
        memory.tidy()
        #expect(memory.objectNames.count == 3)
        shipment.finish()
        try expectEmpty()
    }

    @Test func `it is forgotten, erased and moved like any other`() throws {
        try breakOff(try Acknowledged("soup"))
        try Acknowledged("base").remember(in: memory, as: key, by: "watch")
        let moved = BaseKey("/phone/Moved.sqlite")
        try memory.follow(from: key.store, to: moved.store)
        #expect(memory.unfinished(of: key).isEmpty)
        #expect(memory.unfinished(of: moved).count == 1 && memory.copies(of: moved).count == 1)
        let known = try #require(memory.unfinished(of: moved).first)
        do {
            let shipment = try #require(memory.resume(known))
            let path = try streamPath()
            #expect(throws: BaseMemoryError.stillThere(path)) { try memory.erase(storeAt: moved.store) }
            #expect(try PlatformCalls.status(of: path).kind == .file)
            withExtendedLifetime(shipment) {}
        }
        #expect(try memory.forget { _ in true }.isEmpty)
        try expectEmpty()
        try breakOff(try Acknowledged("soup"))
        #expect(try memory.forget { $0.name == .recipes }.count == 1)
        try expectEmpty()
    }

    @Test func `it goes before what was acknowledged, and nothing that was acknowledged goes for it`() throws {
        let words = Int64((try Acknowledged("a").manifest).jsonBytes.count)
        let mebibyte: Int64 = 1 << 20
        // Two copies and a stream.
        let small = BaseMemory(at: memory.folder, budget: 3 * (512 + words) + 1000 + mebibyte)
        try Acknowledged("a").remember(in: small, as: BaseKey("/a"))
        try Acknowledged("b").remember(in: small, as: BaseKey("/b"))
        let sent = try Sent(try Acknowledged("c"), in: small)
        let shipment = try sent.begin(in: small, as: key)
        #expect(small.copies(of: BaseKey("/a")).count == 1 && small.unfinished(of: key).count == 1)
        let next = try Sent(try Acknowledged("d"), in: small)
        let other = try next.begin(in: small, as: BaseKey("/d"))
        #expect(small.unfinished(of: key).isEmpty && small.unfinished(of: BaseKey("/d")).count == 1)
        #expect(small.copies(of: BaseKey("/a")).count == 1)
        shipment.finish()
        try Acknowledged("e").remember(in: small, as: BaseKey("/e"))
        #expect(small.unfinished(of: BaseKey("/d")).isEmpty)
        #expect(["/a", "/b", "/e"].allSatisfy { small.copies(of: BaseKey(FilePath($0))).count == 1 })
        other.finish()
        let full = BaseMemory(at: memory.folder, budget: 3 * (512 + words) + 100)
        let none = try Sent(try Acknowledged("f"), in: full)
        #expect(full.begin(none.sample.manifest, copy: none.file, as: key, receiver: "a") == nil, "there is no room")
        #expect(["/a", "/b", "/e"].allSatisfy { full.copies(of: BaseKey(FilePath($0))).count == 1 })
        #expect(full.objectNames.count == 6)
    }

    @Test func `external files of an acknowledged copy go before a shipment that is not finished`() throws {
        // There is room for two shipments and the copy, or for one and the copy with its file.
        let small = BaseMemory(at: memory.folder, budget: 2 * (1 << 20) + 100_000)
        let base = BaseKey("/base")
        let file = [UInt8](repeating: 1, count: 300_000)
        try Acknowledged("base", files: [file]).remember(in: small, as: base)
        let first = try Sent(try Acknowledged("one"), in: small)
        let shipment = try first.begin(in: small, as: key)
        #expect(try small.onlyCopy(of: base).files.count == 1)
        let second = try Sent(try Acknowledged("two"), in: small)
        let other = try second.begin(in: small, as: BaseKey("/other"))
        #expect(try small.onlyCopy(of: base).files.isEmpty)
        #expect(small.unfinished(of: key).count == 1 && small.unfinished(of: BaseKey("/other")).count == 1)
        withExtendedLifetime((shipment, other)) {}
    }

    @Test func `a stream ends where it comes to more than its room, and what there is of it stays`() throws {
        let sent = try Sent(try Acknowledged("soup"), in: memory)
        let shipment = try sent.begin(in: memory, as: key)
        shipment.begin(Self.header(sent.sample))
        let piece = [UInt8](repeating: 1, count: 300_000)
        #expect((0..<5).map { shipment.append(piece, note: $0) } == [true, true, true, false, false])
        #expect(!shipment.append([1], note: 9), "it would follow what is missing")
        #expect(shipment.recorded()?.entries.map(\.note) == [0, 1, 2])
        shipment.begin(Self.header(sent.sample))
        #expect(shipment.append([1], note: 9))
    }

    @Test func `room is reserved a mebibyte at a time, and what a new part writes over is not reserved again`() throws {
        let sent = try Sent(try Acknowledged("soup"), in: memory)
        let shipment = try sent.begin(in: memory, as: key)
        let reservation = try #require(shipment.shipment.reservation)
        let mebibyte: Int64 = 1 << 20
        #expect(reservation.left == 0)
        for _ in 0..<2 {
            shipment.begin(Self.header(sent.sample))
            #expect(reservation.left == mebibyte - 128)
            #expect(shipment.append(Self.piece(0), note: 0))
            #expect(reservation.left == mebibyte - 128 - 1012)
        }
        #expect(!shipment.append([UInt8](repeating: 1, count: 1_100_000), note: 1))
        #expect(reservation.left == mebibyte - 128 - 1012, "it is more than the stream may have")
    }

    @Test func `what is damaged is not gone on with, and what is not ours stays`() throws {
        try breakOff(try Acknowledged("soup"))
        let known = try #require(memory.unfinished(of: key).first)
        let path = try streamPath()
        let file = try FileDescriptor.open(path, .writeOnly)
        try file.writeAll(toAbsoluteOffset: 0, [0])
        try file.close()
        #expect(memory.resume(known)?.recorded() == nil)
        // Made while ours is there, so that it cannot get its inode.
        let mine = memory.folder.appending("mine")
        try OpenFile.creating(mine).write(Array("mine".utf8))
        try PlatformCalls.rename(mine, to: path)
        #expect(memory.resume(known) == nil)
        _ = try memory.forget { _ in true }
        #expect(try path.content == Array("mine".utf8))
    }

    @Test func `a killed sender leaves what the next one goes on with`() async throws {
        let path = memory.folder
        let result = await #expect(processExitsWith: .signal(SIGKILL)) { [path = path.string as String] in
            let memory = BaseMemory(at: FilePath(path))
            let sample = try Acknowledged("soup")
            let folder = try TemporaryFolder(in: memory.workingFolder(for: 512) ?? "/")
            let begun = memory.begin(
                sample.manifest, copy: try sample.file(in: folder.path), as: BaseKey(), receiver: "watch")
            if let shipment = begun.map(Recording.init) {
                shipment.begin(PartStream.Header(.columns, of: sample.manifest.parts[0]))
                shipment.append([1, 2, 3], note: 5)
                kill(getpid(), SIGKILL)
            }
        }
        #expect(result != nil)
        memory.tidy()
        #expect(try Folder.names(in: path) == ["index.json", "objects"])
        #expect(memory.objectNames.count == 3)
        let known = try #require(memory.unfinished(of: key).first)
        #expect(known.open() != nil)
        #expect(memory.resume(known)?.recorded()?.entries.map(\.note) == [5])
    }
}
