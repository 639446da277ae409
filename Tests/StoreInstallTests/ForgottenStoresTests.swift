import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// A store that goes from an inbox, beside everybody else who changes it.
@Suite struct ForgottenStoresTests {
    private let inbox: InboxContent
    private let name: StoreName

    init() throws {
        inbox = try InboxContent()
        name = try #require(StoreName("Recipes"))
    }

    private func forget(patience: Duration = .milliseconds(200)) throws -> [Int] {
        try Inbox(at: inbox.root).open().forget(name, timeout: patience)
    }

    private var depot: [String] { get throws { try Folder.names(in: inbox.root.appending(".ship-store")) } }

    @Test func `a shipment that is coming in is waited for, and stays what it is`() async throws {
        let installer = try inbox.installer()
        try await Shipment("1", files: [1: "one"]).install(with: installer)
        let staged = try Shipment("2").stage(with: installer)
        #expect(throws: InboxError.storeBusy(name, waited: .milliseconds(200))) { try forget() }
        #expect(inbox.text("Recipes.sqlite") == "1")
        let sealed = try staged.seal()
        async let gone = Task.detached { try forget(patience: .seconds(20)) }.value
        try await Task.sleep(for: .milliseconds(50))
        #expect(try await installer.install(sealed) { _ in }.number == 2)
        #expect(try await gone == [1, 2])
        #expect(try depot == [".format", ".lock"])
        #expect(inbox.names == [".ship-store"])
        try await Shipment("3").install(with: installer)
        #expect(inbox.numbers == [1])
        #expect(inbox.text("Recipes.sqlite") == "3")
    }

    @Test func `what was half staged when its receiver was killed is no shipment`() async throws {
        do { try await Shipment("1").install(with: try inbox.installer()) }
        try PlatformCalls.makeFolder(inbox.store.appending("staging").appending(UUID().uuidString))
        #expect(try forget() == [1])
        #expect(try depot == [".format", ".lock"])
    }

    @Test func `what a killed process left goes with the next one, or the next receiver`() async throws {
        for isReceiver in [false, true] {
            do { try await Shipment("1", files: [1: "one"]).install(with: try inbox.installer()) }
            let aside = inbox.root.appending(".ship-store").appending(".forgotten-Recipes-\(UUID().uuidString)")
            try PlatformCalls.rename(inbox.store, to: aside)
            if isReceiver { _ = try inbox.installer() } else { #expect(try forget() == []) }
            #expect(try depot == [".format", ".lock"])
            #expect(inbox.names == [".ship-store"])
            #expect(throws: InboxError.noSuchStore(name)) { try forget() }
        }
    }

    @Test func `one that cannot go keeps no receiver out`() async throws {
        do { try await Shipment("1").install(with: try inbox.installer()) }
        let depot = inbox.root.appending(".ship-store")
        let aside = depot.appending(".forgotten-Gone-\(UUID().uuidString)")
        try PlatformCalls.makeFolder(aside)
        try OpenFile.creating(depot.appending("Gone")).write([1])
        try await Shipment("2").install(with: try inbox.installer())
        #expect(inbox.text("Recipes.sqlite") == "2")
        #expect(try PlatformCalls.status(of: aside).kind == .folder)
        try PlatformCalls.removeFile(depot.appending("Gone"))
        _ = try inbox.installer()
        #expect(try self.depot == [".format", ".lock", "Recipes"])
    }

    @Test func `a name is not near itself`() throws {
        _ = try inbox.installer()
        for store in ["Recipes", "Recipe"] { try Folder.make(inbox.root.appending(".ship-store").appending(store)) }
        let error = try Inbox(at: inbox.root).open().noSuchStore(name)
        #expect(error == .noSuchStore(name, near: ["Recipe"]))
    }

    @Test func `a note that is written just then brings nothing back, and one without a store goes`() async throws {
        do {
            let installer = try inbox.installer()
            try await Shipment("1").install(with: installer)
            #expect(try forget() == [1])
            installer.replace(installer.folder.layout.ageRecord(name), with: [1], .asOf, of: name)
            #expect(try depot == [".format", ".lock"])
        }
        try Folder.make(inbox.store.appending("staging"))
        for note in ["asof.json", "halted.json", "left.json", "asked"] {
            _ = try OpenFile.creating(inbox.store.appending(note))
        }
        _ = try inbox.installer()
        #expect(try depot == [".format", ".lock"])
    }

    @Test func `a store that has come again keeps its links`() async throws {
        let installer = try inbox.installer()
        try await Shipment("1", files: [1: "one"]).install(with: installer)
        let aside = inbox.root.appending(".ship-store").appending(".forgotten-Recipes-\(UUID().uuidString)")
        try PlatformCalls.rename(inbox.store, to: aside)
        try await Shipment("2").install(with: installer)
        try Inbox(at: inbox.root).open().sweepForgotten()
        #expect(try depot == [".format", ".lock", "Recipes"])
        #expect(inbox.text("Recipes.sqlite") == "2")
    }

    @Test func `its links go although the store's folder vanished while its lock was waited for`() async throws {
        do { try await Shipment("1", files: [1: "one"]).install(with: try inbox.installer()) }
        let aside = inbox.root.appending(".ship-store").appending(".forgotten-Recipes-\(UUID().uuidString)")
        try PlatformCalls.rename(inbox.store, to: aside)
        try PlatformCalls.makeFolder(inbox.store)
        let storeLock = try StoreLock(of: name, in: Inbox(at: inbox.root))
        let root = inbox.root
        let sweeping = Task.detached { try Inbox(at: root).open().sweepForgotten() }
        try await Task.sleep(for: .milliseconds(100))
        try PlatformCalls.removeEmptyFolder(inbox.store)
        _ = consume storeLock
        try await sweeping.value
        #expect(try depot == [".format", ".lock"])
        #expect(inbox.names == [".ship-store"])
    }

    @Test func `who waited for the store finds that it has gone`() async throws {
        let installer = try inbox.installer()
        let first = try await Shipment("1").install(with: installer)
        let storeLock = try StoreLock(of: name, in: Inbox(at: inbox.root))
        let waiting = Task.detached { try self.forget(patience: .seconds(20)) }
        try await Task.sleep(for: .milliseconds(100))
        try PlatformCalls.rename(inbox.store, to: inbox.root.appending("moved"))
        _ = consume storeLock
        await #expect(throws: InboxError.noSuchStore(name)) { try await waiting.value }
        #expect(first.number == 1)
        #expect(throws: InboxError.storeBusy(name, waited: .zero)) {
            try installer.confirm(first, as: first.manifest, from: .carrier, permitting: {})
        }
    }
}
