import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport

/// What a manifest would say of a store, by a way of its own.
enum SampleFacts {
    static func of(_ path: FilePath) throws -> StoreFacts {
        let queue = try TestStore.open(path)
        defer { try? queue.close() }
        return try queue.read { database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT type, name, tbl_name, coalesce(sql, '') AS sql FROM sqlite_schema")
            let entries = rows.map {
                SchemaEntry(type: $0["type"], name: $0["name"], tableName: $0["tbl_name"], sql: $0["sql"])
            }
            let encoding = try String.fetchOne(database, sql: "PRAGMA encoding") ?? ""
            return StoreFacts(
                size: try PlatformCalls.status(of: path).size, sha256: try ContentDigest(ofFile: path),
                pageSize: try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0,
                pageCount: try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0,
                textEncoding: StoreFacts.TextEncoding(rawValue: encoding) ?? .utf8,
                applicationID: try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0,
                userVersion: try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0,
                schemaSHA256: ContentDigest(hashing: SchemaEntry.listing(of: entries)))
        }
    }

    /// The same facts, one of them different.
    static func changed(
        _ facts: StoreFacts, size: Int64? = nil, pageSize: Int? = nil, pageCount: Int64? = nil,
        textEncoding: StoreFacts.TextEncoding? = nil, applicationID: Int32? = nil, userVersion: Int32? = nil,
        schema: ContentDigest? = nil
    ) -> StoreFacts {
        StoreFacts(
            size: size ?? facts.size, sha256: facts.sha256, pageSize: pageSize ?? facts.pageSize,
            pageCount: pageCount ?? facts.pageCount, textEncoding: textEncoding ?? facts.textEncoding,
            applicationID: applicationID ?? facts.applicationID, userVersion: userVersion ?? facts.userVersion,
            schemaSHA256: schema ?? facts.schemaSHA256)
    }
}
