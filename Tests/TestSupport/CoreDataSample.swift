package import Foundation
import GRDB
package import ShipProtocol
package import SystemPackage

/// A store as Core Data makes it: `Z_METADATA`, `Z_PRIMARYKEY`, entities, and a support folder with external files.
package struct CoreDataSample: Sendable {
    package let path: FilePath
    package static let identity = "0E9C7A52-6F0C-4B6B-9B1B-3C8A6C0B7D11"
    /// Entity name to its version hash, as a manifest has them.
    package static var hashes: [ForeignText: String] {
        Dictionary(uniqueKeysWithValues: versionHashes.map { (ForeignText($0.key), $0.value.base64EncodedString()) })
    }
    /// Entity name to its 32 bytes.
    package static let versionHashes = [
        "Recipe": Data(0..<32), "Photo": Data((0..<32).map { UInt8(255 - $0) }),
    ]

    /// Makes the store with two entities; ZPHOTO's `ZDATA` allows external storage, ZRECIPE's `ZNOTE` does not.
    package init(at path: FilePath, journalMode: String = "WAL") throws {
        self.path = path
        let propertyList = try PropertyListSerialization.data(
            fromPropertyList: [
                "NSStoreModelVersionHashes": Self.versionHashes, "NSStoreType": "SQLite",
                "NSStoreModelVersionIdentifiers": [""], "NSPersistenceFrameworkVersion": 1414,
            ] as [String: Any], format: .binary, options: 0)
        let queue = try TestStore.open(path)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode = \(journalMode)")
            try database.execute(
                sql: """
                    CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
                    CREATE TABLE Z_PRIMARYKEY (
                        Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
                    CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
                    CREATE TABLE ZRECIPE (
                        Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZNOTE BLOB);
                    CREATE TABLE ZPHOTO (
                        Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRECIPE INTEGER, ZDATA BLOB, ZTHUMB BLOB);
                    INSERT INTO Z_PRIMARYKEY VALUES (1, 'Recipe', 0, 900), (2, 'Photo', 0, 70);
                    INSERT INTO ZRECIPE VALUES (1, 1, 1, 'Tea', x'02'), (2, 1, 1, 'Soup', x'0203'), (3, 1, 1, 'Pie', NULL);
                    """)
            try database.execute(
                sql: "INSERT INTO Z_METADATA VALUES (1, ?, ?)", arguments: [Self.identity, propertyList])
        }
        try queue.close()
    }

    /// One that is there already.
    package init(_ path: FilePath) { self.path = path }

    package var supportFolder: FilePath {
        path.removingLastComponent().appending(".\(path.stem ?? "")_SUPPORT")
    }

    /// `_EXTERNAL_DATA` or `_FBF`, and the UUID.
    package func file(_ folder: String, _ uuid: String) -> FilePath {
        supportFolder.appending(folder).appending(uuid)
    }

    /// A cell that refers to an external file.
    package static func reference(_ tag: UInt8, _ uuid: String, terminated: Bool = true) -> Data {
        Data([tag] + Array(uuid.utf8) + (terminated ? [0] : []))
    }

    /// Adds a photo whose data is in a file.
    ///
    /// - Returns: Its UUID.
    @discardableResult
    package func addPhoto(
        key: Int, content: Data?, tag: UInt8 = 2, terminated: Bool = true, uuid: String = UUID().uuidString
    ) throws -> String {
        let folder = tag == 2 ? "_EXTERNAL_DATA" : "_FBF"
        try FileManager.default.createDirectory(
            atPath: supportFolder.appending(folder).string, withIntermediateDirectories: true)
        if let content { try content.write(to: URL(fileURLWithPath: file(folder, uuid).string)) }
        try add(key: key, cell: Self.reference(tag, uuid, terminated: terminated))
        return uuid
    }

    /// Adds a photo with any cell.
    package func add(key: Int, cell: Data?) throws {
        let queue = try TestStore.open(path)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "INSERT INTO ZPHOTO VALUES (?, 2, 1, 1, ?, NULL)", arguments: [key, cell])
        }
        try queue.close()
    }
}
