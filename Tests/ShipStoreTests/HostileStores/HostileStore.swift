import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport

/// A store that somebody made to hurt whoever opens it, and what becomes of it.
struct HostileStore: CustomStringConvertible, Sendable {
    enum End: Hashable, Sendable {
        /// It never becomes current.
        case refused
        /// What is hostile in it is not run, and it is installed.
        case harmless
    }

    let description: String
    let end: End
    let make: @Sendable (FilePath) throws -> Void

    init(_ description: String, _ end: End, make: @escaping @Sendable (FilePath) throws -> Void) {
        self.description = description
        self.end = end
        self.make = make
    }

    /// Made by SQLite alone.
    static func sql(_ description: String, _ end: End, pageSize: Int = 1024, _ sql: String) -> HostileStore {
        HostileStore(description, end) { path in
            try TestStore.make(at: path, preparation: "PRAGMA page_size = \(pageSize)", sql: sql)
        }
    }

    /// Made by SQLite, from which on its schema is what `change` makes of `sqlite_schema`.
    static func schema(
        _ description: String, _ end: End, after sql: String = "", change: String
    ) -> HostileStore {
        .sql(description, end, ordinary + sql + "; PRAGMA writable_schema = ON; " + change)
    }

    /// An ordinary store of pages of 1,024 bytes, in whose bytes something has been changed.
    static func bytes(
        _ description: String, _ end: End, of sql: String = ordinary, preparation: String = "",
        change: @escaping @Sendable (inout StoreBytes) throws -> Void
    ) -> HostileStore {
        HostileStore(description, end) { path in
            try TestStore.make(at: path, preparation: "PRAGMA page_size = 1024; \(preparation)", sql: sql)
            let url = URL(fileURLWithPath: path.string)
            var bytes = StoreBytes(bytes: [UInt8](try Data(contentsOf: url)))
            try change(&bytes)
            try Data(bytes.bytes).write(to: url)
        }
    }

    /// A table whose root, page 2, has leaves below it, with a row in a chain of overflow pages; and an index on page 3.
    static let ordinary = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB);
        CREATE INDEX t_a ON t(a);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO t SELECT i, 'row ' || i, CASE i WHEN 150 THEN zeroblob(20000) ELSE zeroblob(60) END FROM n;
        """

    /// The shipment of it that its maker would send: with the digests and facts that are true.
    func shipment(in folder: FilePath) throws -> (file: FilePath, manifest: Manifest) {
        let store = folder.appending("hostile.sqlite")
        try make(store)
        let manifest = try HandmadeShipment.manifest(of: store)
        let file = folder.appending("hostile.shipment")
        try HandmadeShipment.write(store, manifest, to: file)
        return (file, manifest)
    }
}

/// The bytes of a store, by pages of 1,024 bytes.
struct StoreBytes {
    var bytes: [UInt8]
    static let pageSize = 1024

    var pageCount: Int { bytes.count / Self.pageSize }

    /// Where a page's b-tree header is; pages are numbered from 1.
    static func start(_ page: Int) -> Int { (page - 1) * pageSize + (page == 1 ? 100 : 0) }

    mutating func put(_ value: Int, _ size: Int, at offset: Int) {
        for index in 0..<size {
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - index)))
        }
    }

    func get(_ size: Int, at offset: Int) -> Int { bytes[offset..<(offset + size)].reduce(0) { $0 << 8 | Int($1) } }

    /// The type of a page's b-tree: 2, 5, 10, 13.
    func type(_ page: Int) -> Int { Int(bytes[Self.start(page)]) }

    /// Where a cell of a page begins in the file.
    func cell(_ index: Int, of page: Int) -> Int {
        let start = Self.start(page)
        let header = type(page) == 2 || type(page) == 5 ? 12 : 8
        return (page - 1) * Self.pageSize + get(2, at: start + header + 2 * index)
    }

    /// A leaf of the table.
    var leaf: Int { (4...pageCount).first { type($0) == 13 } ?? 4 }

    /// Page by page, the header says how many there are.
    mutating func setPageCount(_ count: Int) { put(count, 4, at: 28) }
}

/// A shipment put together frame by frame.
enum HandmadeShipment {
    static let name = "Recipes"

    /// - Parameters:
    ///   - coreData: What it is to claim; otherwise nothing.
    static func manifest(
        of store: FilePath, identity: ForeignText? = nil, coreData: Manifest.CoreDataFacts? = nil
    ) throws -> Manifest {
        guard let name = StoreName(Self.name) else { throw POSIXError(.EINVAL) }
        return Manifest(
            name: name, createdAt: Timestamp(Date()), producer: .init(software: "a stranger", sqlite: "3.40.1"),
            store: try facts(of: store), identity: identity, coreData: coreData)
    }

    static func write(_ store: FilePath, _ manifest: Manifest, to file: FilePath) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: store.string)))
        var stream = Preamble(role: .producer, mode: .oneWay).encoded
        stream += try Frame.manifest(manifest).serialized()
        if !bytes.isEmpty { stream += try Frame.part(PartOpening(0, as: .blocks)).serialized() }
        for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
            let piece = Array(bytes[start..<min(start + 1 << 20, bytes.count)])
            let block = Block(decodedSize: piece.count, form: .stored, encoded: piece)
            let isLast = start + piece.count == bytes.count
            stream += try Frame.data(PartData(block.bytes, isLast: isLast)).serialized()
        }
        // Of the shipment, and of the session.
        for _ in 0..<2 { stream += try Frame.end.serialized() }
        try Data(stream).write(to: URL(fileURLWithPath: file.string))
    }

    /// What the header says as far as a manifest can, and SQLite where it answers at all.
    private static func facts(of store: FilePath) throws -> StoreFacts {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: store.string)))
        let header = StoreBytes(bytes: bytes + [UInt8](repeating: 0, count: 100))
        let declared = header.get(2, at: 16) == 1 ? 65_536 : header.get(2, at: 16)
        let isSize = (512...65_536).contains(declared) && declared & (declared - 1) == 0 && bytes.count % declared == 0
        let pageSize = isSize ? declared : bytes.count % 1024 == 0 ? 1024 : 512
        let encodings: [StoreFacts.TextEncoding] = [.utf8, .utf8, .utf16LittleEndian, .utf16BigEndian]
        return StoreFacts(
            size: Int64(bytes.count), sha256: try ContentDigest(ofFile: store), pageSize: pageSize,
            pageCount: Int64(bytes.count / pageSize), textEncoding: encodings[header.get(4, at: 56) & 3],
            applicationID: Int32(truncatingIfNeeded: header.get(4, at: 68)),
            userVersion: Int32(truncatingIfNeeded: header.get(4, at: 60)), schemaSHA256: schemaDigest(of: store))
    }
}
