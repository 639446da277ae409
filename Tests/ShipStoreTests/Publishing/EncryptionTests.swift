import DeviceTrust
import EssentialFoundation
import ShipLinks
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Publications that only their recipients can read.
@Suite struct EncryptionTests {
    // MARK: Objects

    /// Objects, read in pieces of any length, of which some come again.
    private final class Pieces: PublicationReader {
        private let objects: [ContentDigest: [UInt8]]
        private let random: Mutex<RepeatableRandom>

        init(_ objects: [ContentDigest: [UInt8]], seed: UInt64) {
            self.objects = objects
            random = Mutex(RepeatableRandom(seed: seed))
        }

        private func number(_ range: ClosedRange<Int>) -> Int { random.withLock { Int.random(in: range, using: &$0) } }

        func head(unlike tag: String?, fresh isFresh: Bool) async throws -> FetchedHead { .none }

        func object(
            _ digest: ContentDigest, from offset: Int64, upTo limit: Int64, _ take: (Int64, [UInt8]) throws -> Void
        ) async throws {
            let bytes = try #require(objects[digest])
            let end = min(bytes.count, Int(limit))
            var (start, next) = (number(0...3) == 0 ? 0 : min(Int(offset), end), 0)
            while start < end {
                next = min(end, start + number(1...(number(0...1) == 0 ? 5000 : 200_000)))
                try take(Int64(start), Array(bytes[start..<next]))
                start = number(0...9) == 0 ? 0 : next
            }
        }
    }

    private static func keys() throws -> PublicationKeys {
        let scratch = try ScratchFolder.inMemory()
        let device = Device(folder: scratch.path.appending("device"))
        return try PublicationKeys(for: [], by: device.decryptionKey(), after: nil)
    }

    /// A content, and what lies in the storage for it.
    private static func encrypted(_ content: [UInt8], with keys: PublicationKeys) throws -> [UInt8] {
        let cipher = keys.secret.cipher(for: keys.secret.name(of: ContentDigest(hashing: content)))
        let starts = Array(stride(from: 0, to: max(1, content.count), by: ObjectCipher.pieceSize))
        return try starts.enumerated().flatMap { number, start in
            try cipher.seal(
                Array(content[start..<min(content.count, start + ObjectCipher.pieceSize)]), number: Int64(number),
                isLast: start == starts.last)
        }
    }

    private static func content(_ random: inout RepeatableRandom) -> [UInt8] {
        let pieces = Int.random(in: 0...3, using: &random) * ObjectCipher.pieceSize
        return random.bytes(
            max(1, pieces + Int.random(in: -2...2, using: &random) * Int.random(in: 1...900, using: &random)))
    }

    @Test(arguments: 0..<UInt64(Soak.isOn ? 3000 : 60))
    func `any part of an object is read as it was written`(seed: UInt64) async throws {
        var random = RepeatableRandom(seed: seed)
        let (keys, content) = (try Self.keys(), Self.content(&random))
        let digest = ContentDigest(hashing: content)
        let name = keys.secret.name(of: digest)
        let publication = SealedPublication(
            Pieces([name: try Self.encrypted(content, with: keys)], seed: seed), at: .folder("somewhere"), as: nil)
        publication.keys = keys
        let offset = Int.random(in: 0..<content.count, using: &random)
        let limit = Int.random(in: offset + 1...content.count + 1, using: &random)
        var (found, next) = ([UInt8](), offset)
        try await publication.object(digest, from: Int64(offset), upTo: Int64(limit)) { position, piece in
            #expect(position == Int64(next))
            (found, next) = (found + piece, next + piece.count)
        }
        #expect(found == Array(content[offset..<min(limit, content.count)]))
    }

    @Test(arguments: 0..<UInt64(Soak.isOn ? 3000 : 60))
    func `nothing of a piece that was changed, cut, left out or exchanged is read`(seed: UInt64) async throws {
        var random = RepeatableRandom(seed: seed)
        let (keys, content) = (try Self.keys(), Self.content(&random))
        let digest = ContentDigest(hashing: content)
        var sealed = try Self.encrypted(content, with: keys)
        let (size, before) = (ObjectCipher.sealedSize, sealed)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: sealed[Int.random(in: 0..<sealed.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: sealed.removeLast(Int.random(in: 1...sealed.count, using: &random))
        case 2 where sealed.count > size: sealed.removeFirst(size)
        case 3 where sealed.count > size: sealed.removeLast((sealed.count - 1) % size + 1)
        case 4 where sealed.count > 2 * size:
            sealed = Array(sealed[size..<2 * size] + sealed[..<size] + sealed[(2 * size)...])
        default: sealed += random.bytes(Int.random(in: 1...100, using: &random))
        }
        guard sealed != before else { return }
        let publication = SealedPublication(
            Pieces([keys.secret.name(of: digest): sealed], seed: seed), at: .folder("somewhere"), as: nil)
        publication.keys = keys
        var found: [UInt8] = []
        await #expect(throws: PublicationError.badObject(.folder("somewhere"), digest)) {
            try await publication.object(digest, from: 0, upTo: Int64(content.count) + 1) { found += $1 }
        }
        #expect(content.starts(with: found))
    }

    @Test func `an object says nothing under another name`() throws {
        let keys = try Self.keys()
        let content = [UInt8](repeating: 7, count: 100)
        let other = keys.secret.cipher(for: ContentDigest(hashing: content))
        #expect(other.open(try Self.encrypted(content, with: keys), number: 0, isLast: true) == nil)
    }

    // MARK: Publications

    @Test func `nothing but the keys lies there in the clear`() async throws {
        let round = try PublicationRound(seed: 1, isEncrypted: true)
        for _ in 0..<30 {
            try round.change(rows: 20)
            try await round.publish()
        }
        let head = try #require(round.storage.head)
        #expect(throws: ProtocolError.self) { try HeadFile(decoding: head) }
        let keys = try #require(try round.keys())
        #expect(round.storage.digests.count > 5)
        for name in round.storage.digests {
            let object = try #require(round.storage.object(name))
            #expect((ContentDigest(hashing: object) == name) == (name == keys.digest))
            if name == keys.digest { continue }
            #expect((try? StoreCatalog(decoding: object)) == nil)
            var parser = FrameParser()
            parser.append(object)
            #expect((try? parser.next()) == nil)
        }
        try await round.look(2)
        #expect(try round.tick(of: 2) == 30)
    }

    @Test func `who is no recipient any more gets nothing new, and the others go on`() async throws {
        let round = try PublicationRound(seed: 2, isEncrypted: true)
        try await round.publish()
        for index in 0..<3 { try await round.look(index) }
        let before = try #require(try round.keys())
        round.encrypt(for: [0, 2])
        try round.change()
        try await round.publish()
        await #expect(throws: PublicationError.notARecipient(round.place)) { try await round.look(1) }
        for index in [0, 2] { try await round.look(index) }
        #expect(try (0..<3).map(round.tick) == [1, 0, 1])
        // Whoever has the secret from before cannot read the head, and knows no name.
        let head = try SealedHead(decoding: try #require(round.storage.head))
        #expect(before.open(head) == nil)
        let own = try #require(try PublicationKeys(decoding: before.file, with: round.device(1).decryptionKey()))
        #expect(own.former.isEmpty)
        let catalog = try #require(try round.newestHead().head.stores.first?.catalog?.sha256)
        #expect(round.storage.object(before.secret.name(of: catalog)) == nil)
        round.encrypt(for: [0, 1, 2])
        try await round.publish()
        try await round.look(1)
        #expect(try round.tick(of: 1) == 1)
    }

    @Test func `nothing is published for everybody by mistake`() async throws {
        let round = try PublicationRound(seed: 3, isEncrypted: true)
        try await round.publish()
        let head = round.storage.head
        try round.change()
        let publisher = try round.publisher(forRecipients: false)
        await #expect(throws: PublicationError.encrypted(round.place)) { _ = try await publisher.publish() }
        #expect(round.storage.head == head)
        // What is said beside the stores needs no recipients.
        _ = try await publisher.halt([])
        #expect(try round.newestHead().head.halted.count == 1)
    }

    @Test func `what everybody could read is encrypted from then on`() async throws {
        let scratch = try ScratchFolder.inMemory()
        let folder = scratch.path.appending("kitchen")
        let round = try PublicationRound(seed: 4, in: PublicationFolder(at: folder))
        func names() throws -> Set<String> { Set(try Folder.names(in: folder.appending("objects"))) }
        for _ in 0..<12 {
            try round.change(rows: 30)
            try await round.publish()
        }
        try await round.look(0)
        let plain = try names()
        // They have been there for longer than the grace.
        for name in plain {
            let path = folder.appending("objects").appending(name).string
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -200_000)], ofItemAtPath: path)
        }
        round.encrypt(for: [0, 1])
        try round.change()
        try await round.publish()
        for index in 0..<2 { try await round.look(index) }
        #expect(try (0..<2).map(round.tick) == [13, 13])
        await #expect(throws: PublicationError.notARecipient(round.place)) { try await round.look(2) }
        // Who has just read another head may still need what it names.
        let (removed, kept) = try await round.publisher().prune(after: .seconds(24 * 3600))
        #expect(try removed == 0 && kept == names().count && names().isSuperset(of: plain))
        // Times are in seconds.
        try await Task.sleep(for: .milliseconds(1100))
        _ = try await round.publisher().prune(after: .zero)
        #expect(try names().isDisjoint(with: plain))
        try round.reopen(1)
        try await round.look(1)
    }

    @Test func `prune takes what was encrypted for others, and nothing of anybody else`() async throws {
        let round = try PublicationRound(seed: 5, isEncrypted: true)
        for followers in [[0, 1, 2], [0, 1], [0], [0, 1, 2]] as [Set<Int>] {
            round.encrypt(for: followers)
            for _ in 0..<12 {
                try round.change(rows: 30)
                try await round.publish()
            }
        }
        let foreign = ContentDigest(hashing: [1])
        round.storage.change { $0[foreign] = [UInt8](repeating: 3, count: 1000) }
        let secret = try #require(try round.keys()).secret
        let before = round.storage.digests.count
        let (removed, kept) = try await round.publisher().prune(after: .zero)
        #expect(removed + kept == before && removed > 20)
        #expect(round.storage.digests.contains(foreign))
        for index in 0..<3 { try await round.look(index) }
        #expect(try (0..<3).map(round.tick) == [48, 48, 48])
        let catalog = try #require(try round.newestHead().head.stores.first?.catalog?.sha256)
        #expect(round.storage.digests.contains(secret.name(of: catalog)))
        // What is left is what is needed: a second time there is nothing to do.
        #expect(try await round.publisher().prune(after: .zero).removed == 0)
    }

    @Test func `heads of devices before do not stay in the clear`() async throws {
        let round = try PublicationRound(seed: 10)
        try await round.publish()
        try await round.handOver()
        try await round.publish()
        let former = try #require(try round.newestHead().head.before?.sha256)
        _ = try await round.publisher().prune(after: .zero)
        #expect(round.storage.digests.contains(former))
        round.encrypt(for: [0, 1, 2])
        try await round.publish()
        _ = try await round.publisher().prune(after: .zero)
        #expect(!round.storage.digests.contains(former))
        try await round.look(1)
        #expect(try round.tick(of: 1) == 0)
    }

    @Test func `a storage that makes keys of its own is refused by both sides`() async throws {
        let round = try PublicationRound(seed: 6, isEncrypted: false)
        try await round.publish()
        let plain = try #require(round.storage.head)
        round.encrypt(for: [0, 1, 2])
        try round.change()
        try await round.publish()
        // It knows an old head, from before it was encrypted, and the recipients' keys.
        let recipients =
            try (0..<3).map { try round.device($0).encryptionKey() } + (0..<2).map(round.encryptionKey(ofPhone:))
        let scratch = try ScratchFolder.inMemory()
        let own = try Device(folder: scratch.path.appending("storage")).decryptionKey()
        let keys = try PublicationKeys(for: recipients, by: own, after: nil)
        round.storage.change { $0[keys.digest] = keys.file }
        round.storage.put(head: try keys.seal(plain))
        for index in 0..<3 {
            await #expect(throws: PublicationError.self) { try await round.look(index) }
            #expect(try round.tick(of: index) == -1)
        }
        try round.change()
        await #expect(throws: PublicationError.self) { try await round.publish() }
    }

    @Test func `what was encrypted in an attempt that came too late is there for the next one`() async throws {
        let round = try PublicationRound(seed: 8, isEncrypted: true)
        try await round.publish()
        let other = try round.publisher()
        round.encrypt(for: [0, 1])
        try round.change()
        // And what no head names is removed.
        let (former, objects) = (try #require(try round.keys()).digest, round.storage)
        let storage = InterruptedStorage(objects) {
            _ = try await other.halt([])
            objects.change { $0 = $0.filter { !PublicationKeys.areIn($0.value) || $0.key == former } }
        }
        _ = try await round.publisher(to: storage, at: round.place).publish()
        #expect(try round.newestHead().head.halted.count == 1)
        try await round.halt(false)
        for index in 0..<2 { try await round.look(index) }
        #expect(try (0..<2).map(round.tick) == [1, 1])
    }

    @Test func `two stores whose publishers begin at once are there for all recipients`() async throws {
        let round = try PublicationRound(seed: 9, isEncrypted: true)
        try TestStore.make(at: round.scratch.path.appending("Notes.sqlite"), sql: "CREATE TABLE note(n)")
        let other = try round.publisher(to: round.storage, at: round.place, store: "Notes.sqlite")
        let storage = InterruptedStorage(round.storage) { _ = try await other.publish() }
        _ = try await round.publisher(to: storage, at: round.place).publish()
        #expect(try round.newestHead().head.names.count == 2)
        for index in 0..<3 {
            try await round.look(index)
            #expect(try round.tick(of: index) == 0)
        }
    }

    @Test func `a newly named device reads what the publishers before have left`() async throws {
        let round = try PublicationRound(seed: 7, isEncrypted: true)
        try await round.publish()
        for _ in 0..<2 {
            try await round.handOver()
            try round.change()
            try await round.publish()
        }
        // The chain of publishers is read by who begins now, also once it is encrypted anew.
        try await round.look(0)
        round.encrypt(for: [0, 1])
        try round.change()
        try await round.publish()
        _ = try await round.publisher().prune(after: .zero)
        for index in 0..<2 { try await round.look(index) }
        #expect(try (0..<2).map(round.tick) == [3, 3])
    }
}
