package import Foundation
import GRDB
package import SystemPackage

extension CoreDataSample {
    /// Adds what else Core Data keeps in a store: an entity that inherits, persistent history, an index, and cells of every
    /// kind.
    ///
    /// - Returns: The UUIDs of the external files.
    @discardableResult
    package func addEverything() throws -> [String] {
        let queue = try TestStore.open(path)
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    INSERT INTO Z_PRIMARYKEY VALUES
                        (3, 'Feast', 1, 900), (16001, 'CHANGE', 0, 41), (16002, 'TRANSACTION', 0, 17),
                        (16003, 'TRANSACTIONSTRING', 0, 2);
                    INSERT INTO ZRECIPE VALUES (900, 3, 7, 'Roast', NULL);
                    CREATE INDEX Z_Recipe_byName ON ZRECIPE (ZNAME COLLATE BINARY ASC);
                    CREATE TABLE ACHANGE (
                        Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER,
                        ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
                    CREATE TABLE ATRANSACTION (
                        Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZTIMESTAMP FLOAT);
                    CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
                    INSERT INTO ACHANGE VALUES (40, 16001, 1, 0, 1, 1, 16, NULL), (41, 16001, 1, 1, 2, 1, 17, x'06');
                    INSERT INTO ATRANSACTION VALUES (16, 16002, 1, 1, 785000000.5), (17, 16002, 1, 2, 785000100.25);
                    INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'app'), (2, 16003, 1, 'widget');
                    """)
        }
        try queue.close()
        // Inline data, data that merely begins as a reference does, and a reference of each kind.
        try add(key: 60, cell: Data([1]) + Data(repeating: 7, count: 500))
        try add(key: 61, cell: Data([2]) + Data("not a UUID, but of the length of one..".utf8))
        return [
            try addPhoto(key: 62, content: Data(repeating: 62, count: 3000)),
            try addPhoto(key: 63, content: Data(repeating: 63, count: 5000), tag: 3),
        ]
    }

    /// The external files that are there, by their paths in the support folder.
    package static func files(beside store: FilePath) throws -> [String: Data] {
        let support = store.removingLastComponent().appending(".\(store.stem ?? "")_SUPPORT")
        guard FileManager.default.fileExists(atPath: support.string) else { return [:] }
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: support.string) {
            var isFolder: ObjCBool = false
            let path = support.pushing(FilePath(name)).string
            if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue {
                files[name] = FileManager.default.contents(atPath: path)
            }
        }
        return files
    }
}
