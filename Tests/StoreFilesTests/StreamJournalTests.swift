import ShipProtocol
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import StoreFiles

/// When the stream of a part goes to a file, and what is left where that cannot be.
@Suite struct StreamJournalTests {
    private let scratch: ScratchFolder
    private let header = PartStream.Header(
        .columns, of: Manifest.Part(size: 4096, sha256: ContentDigest(hashing: [7])))
    private let piece = [UInt8](repeating: 1, count: StreamJournal.least)

    init() throws { scratch = try ScratchFolder() }

    private struct Failure: Error {}

    /// The room that a file may take, in bytes, and what was asked for.
    private final class Room: Sendable {
        private let asked = Mutex<[Int64]>([])
        private let most: Int64

        init(_ most: Int64 = .max) { self.most = most }

        var all: [Int64] { asked.withLock { $0 } }

        func mayGrow(by bytes: Int64) -> Bool {
            asked.withLock { asked in
                asked.append(bytes)
                return asked.reduce(0, +) <= most
            }
        }
    }

    private func make(_ header: PartStream.Header) throws -> PartStream {
        try PartStream(header, at: scratch.path.appending("stream"), in: try OpenFolder(following: scratch.path))
    }

    private func written() throws -> PartStream? {
        try PartStream(at: scratch.path.appending("stream"), in: try OpenFolder(following: scratch.path))
    }

    private static let longAgo = ContinuousClock.now - .seconds(2)
    /// From which nothing gets old while a test runs.
    private static let later = ContinuousClock.now + .seconds(600)

    @Test func `much is worth a file at once, what is less after a while, and the least never`() {
        var much = StreamJournal(header, at: Self.later)
        let pieces = StreamJournal.mostInMemory / piece.count
        #expect((0..<pieces).map { _ in much.add(piece) } == (1...pieces).map { $0 == pieces })
        var little = StreamJournal(header, at: Self.longAgo)
        let isLeastDue = little.add(Array(piece.dropLast()))
        #expect(!isLeastDue && !little.isWorthFile() && little.isWorthFile(with: 1))
        let isDue = little.add([1])
        #expect(isDue)
    }

    /// As a sender has it, whose journal is of all parts.
    @Test func `a second part is as new as the journal, and has nothing of the first one`() throws {
        var journal = StreamJournal(header, at: Self.longAgo)
        _ = journal.add(Array(piece.dropLast()))
        let other = PartStream.Header(.blocks, of: Manifest.Part(size: 9, sha256: ContentDigest(hashing: [8])))
        journal.begin(other)
        let due = [journal.add([2]), journal.add(piece, note: 3)]
        #expect(due == [false, true])
        journal.enter(growing: Room().mayGrow, make)
        let stream = try #require(try written())
        #expect(stream.header == other)
        #expect(stream.entries.map(\.note) == [0, 3])
        #expect(try stream.data(0) == [2])
    }

    @Test func `all pieces are entered, those that follow are appended, and each is counted`() throws {
        var journal = StreamJournal(header)
        for note in 1...2 as ClosedRange<UInt64> { _ = journal.add([1, 2, 3], note: note) }
        #expect(!journal.isInFile)
        let room = Room()
        journal.enter(growing: room.mayGrow, make)
        #expect(journal.isInFile && !journal.isWorthFile(with: piece.count))
        let isDue = journal.add(piece, note: 3)
        #expect(!isDue, "nothing is left to be entered")
        journal.append([4], of: 3)
        // The rest of what was cut.
        _ = journal.add([5, 6])
        let stream = try #require(try written())
        #expect(stream.entries.map(\.note) == [1, 2, 3, 0])
        #expect(try (0..<4).map { try stream.data($0) } == [[1, 2, 3], [1, 2, 3], piece, [4, 5, 6]])
        #expect(room.all == [15, 15, Int64(piece.count) + 12, 13, 2])
    }

    @Test func `where the room ends the record of the part does, and what there is of it stays`() throws {
        var journal = StreamJournal(header)
        for note in 1...3 as ClosedRange<UInt64> { _ = journal.add([1, 2, 3], note: note) }
        let room = Room(30)
        journal.enter(growing: room.mayGrow, make)
        #expect(!journal.isInFile)
        #expect(!journal.add(piece) && !journal.isWorthFile(with: piece.count))
        journal.sync { Issue.record("there is nothing to sync") }
        #expect(try written()?.entries.map(\.note) == [1, 2])
        #expect(room.all.count == 3, "nothing follows what is missing")
    }

    @Test func `without a file the record of the part ends, and that of the next one begins`() throws {
        var journal = StreamJournal(header)
        _ = journal.add(piece)
        journal.enter(growing: Room().mayGrow) { _ in throw Failure() }
        #expect(!journal.isInFile && !journal.isWorthFile(with: piece.count) && !journal.add(piece))
        journal.begin(header)
        journal.enter(growing: Room().mayGrow, make)
        #expect(journal.isInFile && !journal.add([9]))
        #expect(try written()?.entries.count == 1)
    }

    @Test func `whose the file is becomes durable before the file, once, and not before that is due`() throws {
        var settled = 0
        var journal = StreamJournal(header, at: Self.longAgo)
        journal.syncIfDue { settled += 1 }
        journal.sync { settled += 1 }
        #expect(settled == 0, "there is no file")

        var early = StreamJournal(header, at: Self.later)
        early.enter(growing: Room().mayGrow, make)
        early.syncIfDue { settled += 1 }
        #expect(settled == 0)

        var due = StreamJournal(header, at: Self.longAgo)
        due.enter(growing: Room().mayGrow) { _ in try written() }
        due.syncIfDue { settled += 1 }
        #expect(settled == 1)
        due.sync { settled += 1 }
        #expect(settled == 1)

        // What an earlier session has left is settled.
        var next = StreamJournal(goingOnWith: try #require(try written()), growing: Room().mayGrow)
        next.sync { settled += 1 }
        #expect(settled == 1 && next.isInFile)
    }

    @Test func `what cannot be settled is not in a file`() throws {
        var journal = StreamJournal(header)
        journal.enter(growing: Room().mayGrow, make)
        #expect(journal.isInFile)
        journal.sync { throw Failure() }
        #expect(!journal.isInFile)
    }
}
