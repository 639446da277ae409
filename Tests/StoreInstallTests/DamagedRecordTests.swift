import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

/// What reads a record of an inbox goes on, whatever numbers and times are in it.
@Suite struct DamagedRecordTests {
    private let generation: GenerationName
    private let digest = ContentDigest(hashing: [UInt8]())
    private let hour = Duration.seconds(3600)
    private let now = Timestamp(Date())

    init() throws { generation = try #require(GenerationName("7-3fa9c1d2")) }

    private func variants(of record: some Encodable) throws -> [[UInt8]] {
        let json = String(decoding: try JSONEncoder().encode(record), as: UTF8.self)
        return DamagedNumbers.variants(of: json, seed: 3).map { Array($0.utf8) }
    }

    private func damage<Record: Codable>(_ record: Record, _ read: (Record) -> Void) throws {
        let damaged = try variants(of: record).compactMap {
            try? JSONDecoder().decode(Record.self, from: Data($0))
        }
        #expect(!damaged.isEmpty)
        damaged.forEach(read)
    }

    /// The same of a record whose numbers are looked at as it is read from its file.
    private func damage<Record: Codable>(
        _ record: Record, at path: FilePath, _ reader: () throws -> Record?, _ read: (Record) -> Void
    ) throws {
        var damaged: [Record] = []
        for bytes in try variants(of: record) {
            try Data(bytes).write(to: URL(fileURLWithPath: path.string))
            if let record = try? reader() { damaged.append(record) }
        }
        #expect(!damaged.isEmpty)
        damaged.forEach(read)
    }

    @Test func `an age is one, or unknown`() throws {
        try damage(AgeRecord(of: generation, asOf: .now)) { record in
            #expect(record.age(of: generation).map { $0 >= .zero } ?? true)
        }
        try damage(LeftRecord.empty.leaving(generation, grace: hour)) { record in
            #expect(record.age(of: generation).map { $0 >= .zero } ?? true)
            let later = record.leaving(generation, grace: hour)
            #expect(!later.isOver(grace: hour))
        }
        for at in [0, 1, Int64.max - 1, .max] {
            let mark = SuspensionMark("suspended.7-3fa9c1d2.\(at)..\(UUID().uuidString)")
            #expect(mark?.age(start: nil).map { $0 >= .zero } ?? true)
        }
    }

    @Test func `a time is over, or is not`() throws {
        try damage(LeaseRecord(of: generation, until: now)) { record in
            #expect(record.keeps(generation, at: now) != record.isOver(at: now))
        }
        try damage(WaitingRecord(producer: digest, start: "this")) { record in
            for start in ["this", "another", nil] { _ = record.isOver(start: start) }
        }
    }

    @Test func `there is a number above each generation's`() throws {
        let (scratch, name) = (try ScratchFolder(), try #require(StoreName("Recipes")))
        let folder = try Inbox(at: scratch.path).open()
        try Folder.make(folder.layout.store(name))
        let rolledBack = RollbackRecord.empty.adding(7, digest, at: now).adding(8, nil, at: now)
        try damage(
            rolledBack, at: folder.layout.rollbackRecord(name), { try folder.rollbackRecord(of: name) }
        ) { record in
            #expect(record.highest + 1 <= Limits.generation)
            #expect(record.adding(record.highest + 1, digest, at: now).highest == record.highest + 1)
        }
        try damage(
            OriginRecord(producer: digest, highest: 9, generation: 7), at: folder.layout.originRecord(name),
            { try folder.originRecord(of: name) }
        ) { record in
            #expect(record.generation + 1 <= Limits.generation)
        }
    }
}
