import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// An operator goes back to an older generation, and forward again.
@Suite struct RollbackTests {
    private let content: InboxContent
    private let inbox: Inbox
    private let name: StoreName
    private let noon: Timestamp

    init() throws {
        content = try InboxContent()
        inbox = Inbox(at: content.root)
        name = try #require(StoreName("Recipes"))
        noon = try #require(Timestamp("2026-11-21T12:00:00Z"))
    }

    @discardableResult
    private func install(_ stores: String..., keeping kept: Int = 10) async throws -> Int {
        let installer = try content.installer(keeping: kept)
        var number = 0
        for store in stores { number = try await Shipment(store).install(with: installer).number }
        return number
    }

    private func go(to number: Int? = nil) throws {
        let storeLock = try StoreLock(of: name, in: inbox)
        try storeLock.take(try storeLock.step(to: number), at: noon)
    }

    private var record: RollbackRecord {
        get throws { try inbox.open().rollbackRecord(of: name) }
    }

    /// Whether a shipment of this store would come in.
    private func isWelcome(_ store: String) throws -> Bool {
        do {
            _ = try content.installer(keeping: 10).plan(for: try Shipment(store).manifest)
            return true
        } catch InboxError.rolledBack {
            return false
        }
    }

    /// Whether shipments are refused because of the hold.
    private func isHeld() throws -> Bool {
        do {
            _ = try content.installer(keeping: 10).plan(for: try Shipment("another").manifest)
            return false
        } catch InboxError.onHold {
            return true
        }
    }

    private func release() throws { #expect(try StoreLock(of: name, in: inbox).release()) }

    @Test func `going back makes the generation before current, and keeps the other`() async throws {
        try await install("1", "2", "3")
        try go()
        #expect(content.text("Recipes.sqlite") == "2")
        #expect(content.numbers == [1, 2, 3])
        #expect(content.staging == [])
        let digest = try Shipment("3").manifest.store.sha256
        #expect(
            try record
                == RollbackRecord(
                    highest: 3, refused: [RollbackRecord.Refused(generation: 3, sha256: digest, at: noon)],
                    hold: RollbackRecord.Hold(generation: 3, at: noon)))
        let path = inbox.layout.rollbackRecord(name)
        #expect(try PlatformCalls.status(of: path).permissions.rawValue == 0o600)
        _ = try content.installer()
        #expect(content.numbers == [1, 2, 3])
    }

    @Test func `going back holds the store, whatever is pruned, until it is released`() async throws {
        try await install("1", "2", "3")
        #expect(try StoreLock(of: name, in: inbox).release() == false)
        try go()
        for store in ["1", "3", "4"] {
            #expect(throws: InboxError.onHold(name, since: noon), "\(store)") {
                try content.installer(keeping: 10).plan(for: try Shipment(store).manifest)
            }
        }
        // Nothing changes.
        guard case .unchanged = try content.installer(keeping: 10).plan(for: Shipment("2").manifest) else {
            Issue.record("not unchanged")
            return
        }
        try StoreLock(of: name, in: inbox).prune(Retention(count: 1, grace: .zero))
        #expect(try isHeld())
        try release()
        #expect(try StoreLock(of: name, in: inbox).release() == false)
        #expect(try await install("4") == 4)
    }

    @Test func `only going forward to the newest ends the hold by itself`() async throws {
        try await install("1", "2", "3")
        try go()
        try go()
        try go(to: 2)
        #expect(try isHeld())
        try go(to: 1)
        try go(to: 3)
        #expect(try isHeld() == false)
        try go(to: 2)
        #expect(try isHeld())
    }

    @Test func `what an operator went back from goes before what is sound`() async throws {
        try await install("one", "two")
        try go()
        _ = try StoreLock(of: name, in: inbox).release()
        try await install("three", keeping: 2)
        #expect(try inbox.open().generationNames(of: name).map(\.number) == [1, 3])
        try go()
        #expect(try inbox.current(of: name)?.number == 1)
    }

    @Test(arguments: ["{", nil]) func `there is a way back from what cannot be read`(manifest: String?) async throws {
        try await install("one", "two", "three")
        let current = try #require(try inbox.current(of: name)).path
        try PlatformCalls.changeMode(of: current, to: [.ownerReadWriteExecute])
        try PlatformCalls.removeFile(current.appending("manifest.json"))
        if let manifest { try OpenFile.creating(current.appending("manifest.json")).write(Array(manifest.utf8)) }
        try go()
        #expect(try inbox.current(of: name)?.number == 2 && isHeld())
        _ = try StoreLock(of: name, in: inbox).release()
        // Nobody knows that it is what was damaged.
        #expect(try isWelcome("three"))
    }

    @Test func `without a link to what is current, any kept one can be`() async throws {
        try await install("one", "two")
        try PlatformCalls.removeFile(inbox.root.appending(".ship-store/\(name)/current"))
        try go()
        #expect(try inbox.current(of: name)?.number == 2)
        #expect(try !isHeld())
    }

    @Test func `what was rolled back is refused, and everything else comes in`() async throws {
        try await install("1", "2", "3")
        try go()
        try release()
        #expect(try isWelcome("3") == false)
        #expect(throws: InboxError.rolledBack(name, number: 3)) {
            try content.installer().plan(for: try Shipment("3", metadata: ["again": "1"]).manifest)
        }
        for store in ["1", "2", "4"] { #expect(try isWelcome(store), "\(store)") }
        #expect(try await install("4") == 4)
        #expect(try isWelcome("3") == false)
        #expect(try isWelcome("4"))
    }

    @Test func `a number is never given twice, whatever is pruned`() async throws {
        try await install("1", "2", "3")
        try go()
        try StoreLock(of: name, in: inbox).prune(Retention(count: 1, grace: .zero))
        #expect(content.numbers == [2])
        try release()
        #expect(try await install("4") == 4)
    }

    @Test func `each step back passes over what was rolled back already`() async throws {
        try await install("1", "2", "3")
        try go()
        try release()
        try await install("4")
        try go()
        #expect(content.text("Recipes.sqlite") == "2")
        try go()
        #expect(content.text("Recipes.sqlite") == "1")
        #expect(throws: InboxError.noOlderGeneration(name)) { try go() }
        try release()
        for store in ["2", "3", "4"] { #expect(try isWelcome(store) == false, "\(store)") }
    }

    @Test func `going forward makes that one welcome again`() async throws {
        try await install("1", "2", "3")
        try go(to: 1)
        try go(to: 3)
        #expect(content.text("Recipes.sqlite") == "3")
        #expect(try record == RollbackRecord(highest: 3, refused: []))
        #expect(try await install("4") == 4)
        #expect(try isWelcome("3"))
    }

    @Test func `going forward half way leaves the other one refused`() async throws {
        try await install("1", "2", "3")
        try go()
        try go()
        try go(to: 2)
        try release()
        #expect(try isWelcome("2"))
        #expect(try isWelcome("3") == false)
    }

    @Test func `the current generation is no step`() async throws {
        try await install("1", "2")
        try go(to: 2)
        #expect(content.text("Recipes.sqlite") == "2")
        #expect((try? PlatformCalls.status(of: inbox.layout.rollbackRecord(name))) == nil)
    }

    @Test func `there is no way to what is not kept, or never was current`() async throws {
        try await install("1", "2")
        try PlatformCalls.makeFolder(content.store.appending("generations").appending("3-00000000"))
        for number in [3, 4, 99] {
            #expect(throws: InboxError.noSuchGeneration(name, number: number)) { try go(to: number) }
        }
        let other = try #require(StoreName("Soups"))
        #expect(throws: InboxError.noSuchStore(other)) { _ = try StoreLock(of: other, in: inbox) }
        let nowhere = Inbox(at: "nowhere")
        #expect(throws: InboxError.noInbox("nowhere")) { _ = try StoreLock(of: name, in: nowhere) }
    }

    @Test func `a record without its switch says nothing, and does not begin to count later`() async throws {
        try await install("1", "2", "3")
        let third = try #require(try inbox.current(of: name))
        // Somebody was killed between the record and the switch.
        try StoreLock(of: name, in: inbox).write(RollbackRecord.empty.adding(3, third.manifest.store.sha256, at: noon))
        let installer = try Installer(inbox: Inbox(at: content.root), keeping: Retention(count: 10))
        #expect(try installer.plan(for: Shipment("3").manifest) == .unchanged(third))
        try StoreLock(of: name, in: inbox).write(RollbackRecord.empty.adding(3, third.manifest.store.sha256, at: noon))
        #expect(try await Shipment("4").install(with: installer).number == 4)
        #expect(try record.refused == [])
        guard case .stage = try installer.plan(for: Shipment("3").manifest) else {
            Issue.record("not welcome")
            return
        }
    }

    @Test func `generations above all that were ever current go, and no others`() async throws {
        try await install("1", "2", "3")
        try go(to: 1)
        try PlatformCalls.makeFolder(content.store.appending("generations").appending("4-00000000"))
        _ = try content.installer(keeping: 10)
        #expect(content.numbers == [1, 2, 3])
    }

    @Test func `the operator goes back while the shipment is on its way`() async throws {
        try await install("1", "2")
        let (installer, second) = (try content.installer(), try Shipment("2", metadata: ["again": "1"]))
        await #expect(throws: InboxError.onHold(name, since: noon)) {
            let staged = try second.stage(with: installer)
            let sealed = try staged.seal()
            try go()
            _ = try await installer.install(sealed) { _ in }
        }
        #expect(content.text("Recipes.sqlite") == "1")
        #expect(content.numbers == [1, 2])
        #expect(content.staging == [])
    }

    @Test(arguments: [
        "", "{", "[]", #"{"highest":1}"#, #"{"highest":-1,"refused":[]}"#,
        #"{"highest":9007199254740991,"refused":[]}"#,
        #"{"highest":1,"refused":[],"hold":{"generation":2,"at":"2026-11-21T12:00:00Z"}}"#,
        #"{"highest":1,"refused":[{"generation":2,"sha256":"00","at":"2026-11-21T12:00:00Z"}]}"#,
        String(repeating: " ", count: 300_000),
    ])
    func `a record that cannot be read stops shipments, not the inbox, until the operator starts it anew`(
        text: String
    ) async throws {
        try await install("1", "2", "3")
        try go()
        let path = inbox.layout.rollbackRecord(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path.string))
        let installer = try content.installer(keeping: 10)
        #expect(content.numbers == [1, 2, 3])
        #expect(content.text("Recipes.sqlite") == "2")
        #expect {
            try installer.plan(for: Shipment("4").manifest)
        } throws: { error in
            if case InboxError.badRecord(path, _) = error { true } else { false }
        }
        #expect(try StoreLock(of: name, in: inbox).allowEverything() == nil)
        #expect(try record == RollbackRecord(highest: 3, refused: []))
        #expect(try await Shipment("4").install(with: installer).number == 4)
    }

    @Test func `a link in the place of the record is not followed`() async throws {
        try await install("1")
        let outside = content.scratch.path.appending("outside")
        try OpenFile.creating(outside).write(Array(#"{"highest":9,"refused":[]}"#.utf8))
        try PlatformCalls.symbolicLink(at: inbox.layout.rollbackRecord(name), to: outside)
        #expect(throws: InboxError.self) { try record }
    }

    @Test func `what is allowed again comes in`() async throws {
        try await install("1", "2", "3")
        try go()
        try go()
        #expect(try StoreLock(of: name, in: inbox).allowEverything() == 2)
        #expect(content.text("Recipes.sqlite") == "1")
        #expect(try await install("3") == 4)
    }

    @Test func `the oldest entries are forgotten when there are too many`() throws {
        let manifest = try Shipment("1").manifest
        var record = RollbackRecord.empty
        for number in 1...(RollbackRecord.longest + 2) {
            record = RollbackRecord(
                highest: number,
                refused: (record.refused + [
                    RollbackRecord.Refused(
                        generation: number, sha256: ContentDigest(hashing: Array("\(number)".utf8)), at: noon)
                ]).suffix(RollbackRecord.longest))
        }
        let added = record.adding(5000, manifest.store.sha256, at: noon)
        #expect(added.refused.count == RollbackRecord.longest)
        #expect(added.refused.first?.generation == 4)
        #expect(added.jsonBytes.count < Limits.messageSize)
    }
}
