import Foundation
import GRDB
import ShipProtocol
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

/// Which external files have taken the place of others, by the rows that refer to them.
@Suite struct SuccessorTests {
    private let scratch: ScratchFolder
    private let base: FilePath
    private let copy: FilePath

    init() throws {
        scratch = try ScratchFolder()
        base = scratch.path.appending("base.sqlite")
        copy = scratch.path.appending("copy.sqlite")
    }

    /// A store with a reference in each row of `ZPHOTO`, and of a table whose `Z_PK` is no key.
    private func make(_ path: FilePath, photos: [String], unkeyed: [String]) throws {
        let sample = try CoreDataSample(at: path, journalMode: "DELETE")
        let queue = try TestStore.open(path)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "CREATE TABLE ZUNKEYED (Z_PK INTEGER, ZDATA BLOB)")
            for (row, uuid) in unkeyed.enumerated() {
                try database.execute(
                    sql: "INSERT INTO ZUNKEYED VALUES (?, ?)", arguments: [row, CoreDataSample.reference(2, uuid)])
            }
        }
        try queue.close()
        for (row, uuid) in photos.enumerated() {
            try sample.add(key: row + 1, cell: CoreDataSample.reference(2, uuid))
        }
    }

    private func name(_ uuid: String) throws -> ExternalFileName {
        try #require(ExternalFileName(folder: .externalData, uuid: uuid))
    }

    @Test func `a file follows the one to which its row referred, in tables whose key is Z_PK`() throws {
        let uuids = (0..<5).map { _ in UUID().uuidString }
        try make(base, photos: [uuids[0], uuids[1]], unkeyed: [uuids[2]])
        try make(copy, photos: [uuids[3], uuids[1]], unkeyed: [uuids[4]])
        let gone: Set<ExternalFileName> = [try name(uuids[0]), try name(uuids[2])]
        let found = try ExternalFileReference.successors(of: gone, fromCopyAt: base, toCopyAt: copy)
        #expect(found == [try name(uuids[3]): try name(uuids[0])])
    }

    @Test func `the search ends when its task is cancelled`() async throws {
        let uuids = (0..<2).map { _ in UUID().uuidString }
        try make(base, photos: [uuids[0]], unkeyed: [])
        try make(copy, photos: [uuids[1]], unkeyed: [])
        let (base, copy, gone) = (base, copy, try name(uuids[0]))
        let searching = Task.detached {
            withUnsafeCurrentTask { $0?.cancel() }
            return try ExternalFileReference.successors(of: [gone], fromCopyAt: base, toCopyAt: copy)
        }
        await #expect(throws: SnapshotError.cancelled) { try await searching.value }
    }
}
