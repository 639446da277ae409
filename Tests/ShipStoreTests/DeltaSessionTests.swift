import Foundation
import GRDB
import ShipProtocol
import StoreBases
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// A store of which the consumer holds an earlier state, and the producer remembers it.
@Suite struct `A store that goes as a delta` {
    private let exchange: Exchange

    init() throws {
        var exchange = try Exchange()
        exchange.isReal = true
        exchange.options.memory = BaseMemory(at: exchange.folder.path.appending("bases"))
        self.exchange = exchange
    }

    private func write(_ sql: String) throws {
        let store = try TestStore.open(exchange.store)
        try store.write { try $0.execute(sql: sql) }
        try store.close()
    }

    private func change() throws {
        try write("CREATE TABLE IF NOT EXISTS extra(a); INSERT INTO extra VALUES (hex(randomblob(20)))")
    }

    /// Turns one byte of a file over.
    private func damage(_ path: FilePath) throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path.string)
        let file = try FileHandle(forUpdating: URL(filePath: path.string))
        let end = try file.seekToEnd()
        try file.seek(toOffset: end - 1)
        let last = try #require(try file.readToEnd()?.first)
        try file.seek(toOffset: end - 1)
        try file.write(contentsOf: [last ^ 0xFF])
        try file.close()
    }

    @Test func `takes what changed, and is installed`() async throws {
        let first = try await exchange.overSocket()
        #expect(first.store?.encoding != .delta)
        try change()
        let second = try await exchange.overSocket()
        try exchange.expectInstalled(second.receipt)
        #expect(second.receipt?.generation == 2)
        let store = try #require(second.store)
        #expect(store.encoding == .delta)
        #expect(store.bytes < 300)
        #expect(exchange.restarts.isEmpty && exchange.questions == 0)
        #expect(exchange.progressIsWhole)
    }

    /// The producer remembers what came last, and that is kept.
    @Test func `builds on the generation that the producer remembers, after the consumer has rolled that back`()
        async throws
    {
        _ = try await exchange.overSocket()
        try change()
        _ = try await exchange.overSocket()
        let name = StoreName(suggestedBy: exchange.store)
        #expect(try await Rollback.perform(on: name, in: Inbox(at: exchange.inbox)).isOnHold)
        #expect(try Rollback.release(name, in: Inbox(at: exchange.inbox)))
        // The manifest of a store that has little in common with the one before takes fewer bytes if it refers to nothing.
        let tables = (0..<30).map {
            "ALTER TABLE extra RENAME TO e\($0); CREATE TABLE extra AS SELECT hex(randomblob(9)) AS a;"
        }
        try write(tables.joined() + "PRAGMA user_version = 77")
        let third = try await exchange.overSocket()
        try exchange.expectInstalled(third.receipt)
        #expect(third.store?.encoding == .delta)
    }

    @Test func `comes otherwise in the same session, where the consumer's base is damaged`() async throws {
        _ = try await exchange.overSocket()
        let current = try #require(try Inbox(at: exchange.inbox).current(of: StoreName(suggestedBy: exchange.store)))
        try damage(current.storePath)
        try change()
        let second = try await exchange.overSocket()
        try exchange.expectInstalled(second.receipt)
        #expect(second.store?.encoding == .columns)
        #expect(exchange.restarts == [.notMadeByConsumer])
        #expect(exchange.questions == 1)
    }

    @Test func `comes otherwise, where what is remembered is damaged`() async throws {
        _ = try await exchange.overSocket()
        let memory = try #require(exchange.options.memory)
        let record = try #require(try memory.records().first)
        try damage(record.path)
        try change()
        let second = try await exchange.overSocket()
        try exchange.expectInstalled(second.receipt)
        #expect(second.store?.encoding == .columns)
        #expect(exchange.restarts == [.baseGone])
        #expect(exchange.questions == 0)
        // The next one has a base again.
        try change()
        let third = try await exchange.overSocket()
        try exchange.expectInstalled(third.receipt)
        #expect(third.store?.encoding == .delta)
    }

    @Test func `goes in blocks where the user says so`() async throws {
        _ = try await exchange.overSocket()
        try change()
        var plain = exchange
        plain.options.encoding = .blocks
        let second = try await plain.overSocket()
        try exchange.expectInstalled(second.receipt)
        #expect(second.store?.encoding == .blocks)
    }

    @Test func `is not copied at all while nothing changes`() async throws {
        // What was written just now could be written once more within the same step of the clock.
        try await Task.sleep(for: .milliseconds(100))
        _ = try await exchange.overSocket()
        #expect(exchange.copies == 1)
        let second = try await exchange.overSocket()
        #expect(second.receipt?.outcome == .unchanged)
        #expect(second.bytesSent < 150)
        #expect(exchange.copies == 1)
        try change()
        try await Task.sleep(for: .milliseconds(100))
        let third = try await exchange.overSocket()
        try exchange.expectInstalled(third.receipt)
        #expect(exchange.copies == 2)
        // Something else is said of it.
        var other = exchange
        other.options.metadata = ["why": "another word"]
        let fourth = try await other.overSocket()
        try exchange.expectInstalled(fourth.receipt)
        #expect(fourth.store == nil)
        #expect(exchange.copies == 3)
        let current = try #require(try Inbox(at: exchange.inbox).current(of: StoreName(suggestedBy: exchange.store)))
        #expect(try PlatformCalls.status(of: current.storePath).links == 2)
        let fifth = try await other.overSocket()
        #expect(fifth.receipt?.outcome == .unchanged)
        #expect(exchange.copies == 3)
    }

    @Test func `is copied although nothing changed, where the consumer does not hold it any more`() async throws {
        try await Task.sleep(for: .milliseconds(100))
        _ = try await exchange.overSocket()
        try FileManager.default.removeItem(atPath: exchange.inbox.string)
        let second = try await exchange.overSocket()
        try exchange.expectInstalled(second.receipt)
        #expect(second.receipt?.generation == 1)
        #expect(exchange.copies == 2)
    }

    @Test func `is copied although nothing changed, where a file of what is current is gone`() async throws {
        try await Task.sleep(for: .milliseconds(100))
        _ = try await exchange.overSocket()
        let current = try #require(try Inbox(at: exchange.inbox).current(of: StoreName(suggestedBy: exchange.store)))
        try PlatformCalls.removeFile(current.storePath)
        let second = try await exchange.overSocket()
        #expect(second.receipt?.outcome == .installed)
        #expect(exchange.copies == 2)
    }

    @Test func `has sizes that do not tell what is in it, where it is padded`() async throws {
        var sizes: [Bool: Set<Int64>] = [:]
        for isPadded in [false, true] {
            for value in ["x", "the same words as in the row before, which a guess may hit or not hit"] {
                var exchange = exchange
                exchange.options.padding = isPadded
                _ = try await exchange.overSocket()
                try write(
                    "CREATE TABLE IF NOT EXISTS guess(a); INSERT INTO guess VALUES ('\(value)' || hex(randomblob(8)))")
                let delivery = try await exchange.overSocket()
                #expect(delivery.store?.encoding == .delta)
                sizes[isPadded, default: []].insert(delivery.bytesSent)
            }
        }
        #expect(sizes[false]?.count == 2)
        #expect(sizes[true]?.count == 1)
    }
}
