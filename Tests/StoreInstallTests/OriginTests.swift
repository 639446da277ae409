import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// Whose shipments come in, and in which order.
@Suite struct `The shipments of a store` {
    private let content: InboxContent
    private let inbox: Inbox
    private let name: StoreName
    private let phone = ContentDigest(hashing: [1])
    private let other = ContentDigest(hashing: [2])

    init() throws {
        content = try InboxContent()
        inbox = Inbox(at: content.root)
        name = try #require(StoreName("Recipes"))
    }

    private func from(_ id: ContentDigest, mayTakeOver: Bool = false) -> Sender {
        .device(id, mayTakeOver: mayTakeOver)
    }

    /// - Returns: The number of the generation, or `nil` for one that was current already.
    @discardableResult
    private func send(
        _ store: String, _ counter: UInt64?, _ sender: Sender, permitting: () throws -> Void = {},
        open: (Generation) async throws -> Void = { _ in }
    ) async throws -> Int? {
        let installer = try content.installer(keeping: 10)
        let shipment = try Shipment(store).counted(counter)
        if case .unchanged(let same) = try installer.plan(for: shipment.manifest, from: sender) {
            try installer.confirm(same, as: shipment.manifest, from: sender, permitting: permitting)
            return nil
        }
        let staged = try installer.stage(shipment.manifest, from: sender, present: [:])
        for (index, bytes) in shipment.parts.enumerated() { try staged.append(bytes, toPart: index) }
        let sealed = try staged.seal()
        return try await installer.install(sealed, permitting: permitting, open: open).number
    }

    /// Expects that a shipment is refused, and that nothing has changed.
    private func expectRefusal(
        _ flaw: SequenceFlaw, _ store: String, _ counter: UInt64?, _ sender: Sender,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        // There need be no inbox yet.
        _ = try content.installer(keeping: 10)
        let before = (content.current, content.generations, try inbox.open().originRecord(of: name))
        await #expect(throws: InboxError.outOfSequence(name, flaw), sourceLocation: location) {
            try await send(store, counter, sender)
        }
        let after = (content.current, content.generations, try inbox.open().originRecord(of: name))
        #expect(before == after, sourceLocation: location)
        #expect(content.staging == [], sourceLocation: location)
    }

    @Test func `rise in number, and none comes twice`() async throws {
        try await send("a", 7, from(phone))
        try await send("b", 8, from(phone))
        try await expectRefusal(.replayed(counter: 7, highest: 8), "a", 7, from(phone))
        try await expectRefusal(.replayed(counter: 8, highest: 8), "a", 8, from(phone))
        try await expectRefusal(.replayed(counter: 1, highest: 8), "c", 1, from(phone))
        try await send("a", 9, from(phone))
        #expect(content.text("Recipes.sqlite") == "a")
    }

    @Test func `that are current already may come again, and change nothing`() async throws {
        try await send("a", 7, from(phone))
        #expect(try await send("a", 7, from(phone)) == nil)
        // The same content under a higher number: from then on that is the highest.
        #expect(try await send("a", 9, from(phone)) == nil)
        #expect(content.numbers == [1])
        #expect(try await send("a", 9, from(phone)) == nil)
        try await expectRefusal(.replayed(counter: 8, highest: 9), "a", 8, from(phone))
        try await expectRefusal(.replayed(counter: 8, highest: 9), "b", 8, from(phone))
        try await send("b", 10, from(phone))
    }

    @Test func `do not run too far ahead`() async throws {
        let lead = Limits.counterLead
        #expect(lead == 4_294_967_296)
        try await expectRefusal(.tooFarAhead(counter: lead + 1, highest: 0), "a", lead + 1, from(phone))
        try await expectRefusal(.tooFarAhead(counter: .max, highest: 0), "a", .max, from(phone))
        try await send("a", lead, from(phone))
        try await expectRefusal(.tooFarAhead(counter: 2 * lead + 1, highest: lead), "b", 2 * lead + 1, from(phone))
        try await expectRefusal(.tooFarAhead(counter: .max, highest: lead), "b", .max, from(phone))
        try await expectRefusal(.tooFarAhead(counter: .max, highest: 0), "b", .max, from(phone, mayTakeOver: true))
        try await expectRefusal(.tooFarAhead(counter: .max, highest: lead), "b", .max, .carrier)
        try await send("b", 2 * lead, from(phone))
    }

    @Test func `near the end of all numbers are compared without a trap`() async throws {
        try await send("a", .max - 2, from(phone, mayTakeOver: true))
        try await send("b", .max - 1, from(phone))
        try await expectRefusal(.tooFarAhead(counter: .max, highest: .max - 1), "c", .max, from(phone))
        try await expectRefusal(.replayed(counter: 1, highest: .max - 1), "c", 1, from(phone))
        try await send("c", 1, from(phone, mayTakeOver: true))
        try await send("d", 2, from(phone))
    }

    @Test func `have a number if their device is known`() async throws {
        try await expectRefusal(.notCounted, "a", nil, from(phone))
        try await send("a", nil, .carrier)
        try await send("b", 5, from(phone))
        try await expectRefusal(.noCounter, "c", nil, .carrier)
        try await expectRefusal(.noCounter, "c", nil, from(phone))
        try await expectRefusal(.noCounter, "b", nil, .carrier)
        try await expectRefusal(.replayed(counter: 4, highest: 5), "c", 4, .carrier)
        try await send("c", 6, from(phone))
        try await send("d", nil, .operatorsWord)
        try await expectRefusal(.replayed(counter: 6, highest: 6), "c", 6, from(phone))
        try await send("e", 7, from(phone))
    }

    @Test func `are not counted on nobody's word`() async throws {
        try await send("a", 7, .carrier)
        try await send("b", 5, from(phone))
        // Whoever writes to a pipe would lock the device out by a high number.
        try await expectRefusal(.noDevice, "c", 6, .carrier)
        try await expectRefusal(.noDevice, "c", 5 + Limits.counterLead, .carrier)
        try await expectRefusal(.noDevice, "b", 6, .carrier)
        #expect(try await send("b", 5, .carrier) == nil)
        try await send("c", 5 + Limits.counterLead, .operatorsWord)
        #expect(try inbox.open().originRecord(of: name)?.highest == 5)
        try await send("d", 6, from(phone))
    }

    @Test func `are one device's, until another takes over`() async throws {
        try await send("a", 5, from(phone))
        try await expectRefusal(.otherDevice, "b", 6, from(other))
        try await expectRefusal(.otherDevice, "a", 5, from(other))
        var calls = 0
        try await send("b", 1, from(other, mayTakeOver: true), permitting: { calls += 1 })
        #expect(calls == 1)
        try await expectRefusal(.otherDevice, "c", 6, from(phone))
        try await expectRefusal(.replayed(counter: 1, highest: 1), "c", 1, from(other))
        try await send("c", 2, from(other))
        // With what is there already, which it is not told.
        try await send("c", 1, from(phone, mayTakeOver: true), permitting: { calls += 1 })
        #expect(calls == 2 && content.numbers == [1, 2, 3, 4])
        try await expectRefusal(.otherDevice, "d", 3, from(other))
        try await send("d", 2, from(phone))
    }

    @Test func `stay as they are if a device may not take over after all`() async throws {
        struct TakenBack: Error {}
        try await send("a", 5, from(phone))
        let before = try inbox.open().originRecord(of: name)
        for store in ["a", "b"] {
            await #expect(throws: TakenBack.self) {
                try await send(store, 1, from(other, mayTakeOver: true), permitting: { throw TakenBack() })
            }
        }
        #expect(try inbox.open().originRecord(of: name) == before)
        #expect(content.text("Recipes.sqlite") == "a" && content.numbers == [1] && content.staging == [])
    }

    @Test func `that cannot be opened do not use up their number`() async throws {
        struct NotOpened: Error {}
        try await send("a", 5, from(phone))
        await #expect(throws: NotOpened.self) { try await send("b", 6, from(phone), open: { _ in throw NotOpened() }) }
        #expect(content.text("Recipes.sqlite") == "a")
        try await send("b", 6, from(phone))
        #expect(content.text("Recipes.sqlite") == "b")
    }

    @Test func `keep their place when somebody goes back`() async throws {
        for number in 1...3 { try await send("\(number)", UInt64(number), from(phone)) }
        func go(to number: Int?) throws {
            let storeLock = try StoreLock(of: name, in: inbox)
            let noon = try #require(Timestamp("2026-11-21T12:00:00Z"))
            try storeLock.take(try storeLock.step(to: number), at: noon)
        }
        // As if the program had died right after the switch.
        try? PlatformCalls.removeFile(inbox.layout.originRecord(name))
        try go(to: nil)
        #expect(content.text("Recipes.sqlite") == "2")
        for store in ["1", "2", "3"] {
            let counter = try #require(UInt64(store))
            try await expectRefusal(.replayed(counter: counter, highest: 3), "x" + store, counter, from(phone))
        }
        try await expectRefusal(.replayed(counter: 2, highest: 3), "2", 2, from(phone))
        try await expectRefusal(.otherDevice, "y", 4, from(other))
        #expect(try await send("2", 4, from(phone)) == nil)
        try go(to: 3)
        try await expectRefusal(.replayed(counter: 4, highest: 4), "z", 4, from(phone))
        try await send("z", 5, from(phone))
        #expect(content.numbers == [1, 2, 3, 4])
    }

    @Test func `are known from what is current alone, and from the record alone`() async throws {
        try await send("a", 5, from(phone))
        try PlatformCalls.removeFile(inbox.layout.originRecord(name))
        try await expectRefusal(.replayed(counter: 4, highest: 5), "b", 4, from(phone))
        try await send("b", 6, from(phone))
        // Somebody has removed all generations: what came last may come again, and nothing older. Its generation has a number of its own.
        try PlatformCalls.removeFile(content.store.appending("current"))
        try Folder.removeTree(at: content.store.appending("generations"))
        try await expectRefusal(.replayed(counter: 5, highest: 6), "a", 5, from(phone))
        #expect(try await send("b", 6, from(phone)) == 3)
        #expect(try await send("c", 7, from(phone)) == 4)
        try PlatformCalls.removeFile(inbox.layout.originRecord(name))
        try await expectRefusal(.replayed(counter: 7, highest: 7), "d", 7, from(phone))
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"producer":"x","highest":1,"generation":1}"#, String(repeating: " ", count: 5000),
        record(generation: "-1"), record(generation: "9007199254740991"), record(generation: "9223372036854775807"),
        record(generation: "9223372036854775808"),
    ])
    func `come in no more where nobody knows what has been here`(text: String) async throws {
        try await send("a", 5, from(phone))
        let record = inbox.layout.originRecord(name)
        try PlatformCalls.removeFile(record)
        try OpenFile.creating(record).write(Array(text.utf8))
        await #expect(throws: InboxError.badOrigin(record)) { try await send("b", 6, from(phone)) }
        #expect(content.text("Recipes.sqlite") == "a")
    }

    @Test func `come in where the record says what their generation does not any more`() async throws {
        for text in ["a", "b"] {
            try await send(text, text == "a" ? 5 : 6, from(phone))
            let file = content.store.appending("current").appending("origin.json")
            try PlatformCalls.changeMode(of: file, to: .ownerReadWrite)
            try Data("x".utf8).write(to: URL(fileURLWithPath: file.string))
        }
        try await expectRefusal(.otherDevice, "c", 7, from(other))
        try await expectRefusal(.replayed(counter: 6, highest: 6), "c", 6, from(phone))
        #expect(try await send("c", 7, from(phone)) == 3)
        // Nobody else knows.
        let file = content.store.appending("current").appending("origin.json")
        try PlatformCalls.changeMode(of: file, to: .ownerReadWrite)
        try Data("x".utf8).write(to: URL(fileURLWithPath: file.string))
        try PlatformCalls.removeFile(inbox.layout.originRecord(name))
        await #expect(throws: InboxError.self) { try await send("d", 8, from(phone)) }
        #expect(content.text("Recipes.sqlite") == "c")
    }

    private static func record(generation: String) -> String {
        #"{"producer":"\#(ContentDigest(hashing: [1]).hex)","highest":5,"generation":\#(generation)}"#
    }

    @Test func `come in as long as there are numbers for their generations`() async throws {
        try await send("a", 5, from(phone))
        let record = inbox.layout.originRecord(name)
        try? PlatformCalls.removeFile(record)
        try OpenFile.creating(record).write(Array(Self.record(generation: "\(Limits.generation - 2)").utf8))
        #expect(try await send("b", 6, from(phone)) == Limits.generation - 1)
        let noneLeft = InboxError.badRecord(inbox.layout.generations(name), flaw: "no number is left above the highest")
        await #expect(throws: noneLeft) { try await send("c", 7, from(phone)) }
        #expect(content.text("Recipes.sqlite") == "b" && content.staging == [])
    }

    @Test func `say where they are from beside their manifest, which nobody can change`() async throws {
        try await send("a", 5, from(phone))
        let file = content.store.appending("generations").appending(content.generations[0]).appending("origin.json")
        #expect(try PlatformCalls.status(of: file).permissions == .ownerRead)
        #expect(
            FileManager.default.contents(atPath: file.string).map { String(decoding: $0, as: UTF8.self) }
                == #"{"counter":5,"producer":"\#(phone.hex)"}"#)
    }
}

extension Shipment {
    fileprivate func counted(_ counter: UInt64?) -> Shipment {
        counter.map { Shipment(manifest.counted($0), parts) } ?? self
    }
}
