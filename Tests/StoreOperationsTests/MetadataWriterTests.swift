import Foundation
import GRDB
import ShipProtocol
import StoreOperations
import SystemPackage
import TestSupport
import Testing

@Suite struct MetadataWriterTests {
    private let scratch: ScratchFolder
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path.appending("store.sqlite")
    }

    private var writer: MetadataWriter { MetadataWriter(for: path, BusyHandler(busyTimeout: .milliseconds(50))) }

    private func propertyList() throws -> NSDictionary {
        let queue = try TestStore.open(path)
        defer { try? queue.close() }
        let bytes = try #require(try queue.read { try Data.fetchOne($0, sql: "SELECT Z_PLIST FROM Z_METADATA") })
        #expect(bytes.starts(with: Data("bplist00".utf8)))
        return try #require(try PropertyListSerialization.propertyList(from: bytes, format: nil) as? NSDictionary)
    }

    /// What is in our table.
    private func pairs() throws -> [String: String] {
        let queue = try TestStore.open(path)
        defer { try? queue.close() }
        let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT key, value FROM ship_store_metadata") }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as String, $0[1] as String) })
    }

    @Test func `a Core Data store keeps the pairs beside its own, which stay`() throws {
        _ = try CoreDataSample(at: path)
        let odd: NSDictionary = [
            "flag": true, "no": false, "one": 1, "big": Int64.max, "half": 0.5,
            "when": Date(timeIntervalSince1970: 1e9),
            "data": Data([0, 255]),
            "nested": ["list": [1, "two", Data()], "empty": [String: String]()] as [String: Any],
            "é東京": "Crêpe 🍲", "NSStoreModelVersionHashes": CoreDataSample.versionHashes,
        ]
        let bytes = try PropertyListSerialization.data(fromPropertyList: odd, format: .xml, options: 0)
        let queue = try TestStore.open(path)
        try queue.write { try $0.execute(sql: "UPDATE Z_METADATA SET Z_PLIST = ?", arguments: [bytes]) }
        try queue.close()
        let others = try StoreContent(of: path).tables.filter { $0.key != "Z_METADATA" }

        try writer.write(set: ["app": "4.2", "note": "a"], removing: [])
        try writer.write(set: ["note": "b", "more": ""], removing: ["app", "absent"])
        let changed = try #require(try propertyList().mutableCopy() as? NSMutableDictionary)
        #expect(changed["ShipStoreMetadata"] as? [String: String] == ["note": "b", "more": ""])
        changed.removeObject(forKey: "ShipStoreMetadata")
        #expect(changed == odd)
        #expect(isBoolean(changed["flag"]) && !isBoolean(changed["one"]))
        #expect(try StoreContent(of: path).tables.filter { $0.key != "Z_METADATA" } == others)

        try writer.write(set: [:], removing: ["note", "more"])
        #expect(try propertyList() == odd)
    }

    /// Whether a number is a boolean, which equals 1 or 0 otherwise.
    private func isBoolean(_ value: Any?) -> Bool {
        guard let value,
            let bytes = try? PropertyListSerialization.data(fromPropertyList: [value], format: .xml, options: 0)
        else { return false }
        return String(decoding: bytes, as: UTF8.self).contains("<true/>")
    }

    @Test func `any other store gets a table, and only when there is something to keep`() throws {
        try TestStore.make(at: path, sql: "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let before = try StoreContent(of: path)
        try writer.write(set: [:], removing: ["absent"])
        #expect(try StoreContent(of: path) == before)
        try writer.write(set: ["app": "4.2", "note": "a"], removing: [])
        try writer.write(set: ["note": "it's \"b\""], removing: ["app"])
        #expect(try pairs() == ["note": "it's \"b\""])
        #expect(try StoreContent(of: path).tables["t"] == before.tables["t"])
    }

    @Test func `what breaks a rule changes nothing`() throws {
        try TestStore.make(at: path, sql: "CREATE TABLE t(a)")
        try writer.write(set: Dictionary(uniqueKeysWithValues: (0..<64).map { ("k\($0)", "v") }), removing: [])
        let before = try StoreContent(of: path)
        #expect(throws: OperationError.badMetadata("more than 64 pairs of metadata")) {
            try writer.write(set: ["more": "v"], removing: [])
        }
        #expect(throws: OperationError.self) { try writer.write(set: ["a key": "v"], removing: ["k1"]) }
        #expect(try StoreContent(of: path) == before)
        try writer.write(set: ["more": "v"], removing: ["k1"])
        #expect(try pairs().count == 64)
    }

    @Test func `another writer is waited for, and not for ever`() throws {
        try TestStore.make(at: path, sql: "CREATE TABLE t(a)")
        let app = try TestStore.open(path)
        try app.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        #expect(throws: OperationError.busy(path, waited: .milliseconds(50))) {
            try writer.write(set: ["a": "b"], removing: [])
        }
        let busyHandler = BusyHandler(busyTimeout: .seconds(60))
        busyHandler.stop()
        #expect(throws: OperationError.stopped) {
            try MetadataWriter(for: path, busyHandler).write(set: ["a": "b"], removing: [])
        }
        try app.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        try writer.write(set: ["a": "b"], removing: [])
        try app.close()
        #expect(try pairs() == ["a": "b"])
    }

    @Test func `a table of another making is left alone`() throws {
        try TestStore.make(at: path, sql: "CREATE TABLE ship_store_metadata(id INTEGER PRIMARY KEY, a)")
        #expect(throws: OperationError.tableIsTaken("ship_store_metadata")) {
            try writer.write(set: ["a": "b"], removing: [])
        }
    }

    @Test(arguments: [
        "UPDATE Z_METADATA SET Z_PLIST = x'00'", "UPDATE Z_METADATA SET Z_PLIST = NULL", "DELETE FROM Z_METADATA",
    ])
    func `a property list that cannot be read is left alone`(change: String) throws {
        _ = try CoreDataSample(at: path)
        try TestStore.make(at: path, sql: change)
        let before = try StoreContent(of: path)
        #expect(throws: OperationError.unreadablePropertyList(path)) { try writer.write(set: ["a": "b"], removing: []) }
        #expect(try StoreContent(of: path) == before)
    }
}
