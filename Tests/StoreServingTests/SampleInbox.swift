import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreInstall
import SystemPackage
import TestSupport

/// An inbox into which a test installs stores of its own.
final class SampleInbox: Sendable {
    let root: FilePath
    let installer: Installer
    private let scratch: ScratchFolder

    /// - Parameter kept: How many generations stay.
    init(keeping kept: Int = 3, in scratch: ScratchFolder? = nil) throws {
        let scratch = try scratch ?? ScratchFolder()
        self.scratch = scratch
        root = scratch.path.appending("inbox")
        installer = try Installer(inbox: Inbox(at: root), keeping: Retention(count: kept, grace: .zero))
    }

    func folder(of name: String = "Recipes") -> FilePath { root.appending(".ship-store").appending(name) }

    /// The numbers of the generations that are there.
    func numbers(of name: String = "Recipes") -> [Int] {
        ((try? Folder.names(in: folder(of: name).appending("generations"))) ?? [])
            .compactMap { GenerationName($0)?.number }.sorted()
    }

    /// Installs a store with a table `t` of so many rows.
    @discardableResult
    func install(_ name: String = "Recipes", rows: Int, _ words: SampleWords = SampleWords()) async throws -> Generation
    {
        let path = scratch.path.appending("\(UUID().uuidString).sqlite")
        defer { try? Folder.removeTree(at: path) }
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE t(a);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
                INSERT INTO t SELECT i FROM n WHERE \(rows) > 0;
                """)
        return try await install(name, fileAt: path, words)
    }

    /// Installs the store in a file.
    @discardableResult
    func install(
        _ name: String = "Recipes", fileAt path: FilePath, _ words: SampleWords = SampleWords()
    ) async throws -> Generation {
        try await install(name, Array(try Data(contentsOf: URL(fileURLWithPath: path.string))), words)
    }

    /// Installs a store of these bytes.
    @discardableResult
    func install(_ name: String, _ bytes: [UInt8], _ words: SampleWords = SampleWords()) async throws -> Generation {
        let manifest = try words.manifest(name, bytes)
        let staged = try installer.stage(manifest, present: [:])
        try staged.append(bytes, toPart: 0)
        for (index, content) in words.files.sorted(by: { $0.key < $1.key }).map(\.value).enumerated()
        where !content.isEmpty {
            try staged.append(Array(content.utf8), toPart: index + 1)
        }
        let sealed = try staged.seal()
        return try await installer.install(sealed) { _ in }
    }
}

/// What a manifest says beside the facts of its store.
struct SampleWords {
    var tables: [ForeignText: TableContent]?
    /// What is in each external file.
    var files: [ExternalFileName: String] = [:]
    var missing: [ExternalFileName] = []
    var omissions: Omissions?
    var metadata: [String: ForeignText] = [:]

    struct Bad: Error {}

    /// An external file's name that ends in this number.
    static func file(_ number: Int) throws -> ExternalFileName {
        let digits = String(number)
        let uuid = "00000000-0000-0000-0000-" + String(repeating: "0", count: 12 - digits.count) + digits
        guard let name = ExternalFileName(folder: .externalData, uuid: uuid) else { throw Bad() }
        return name
    }

    static func table(_ rows: Int64, _ content: String) -> TableContent {
        TableContent(rows: rows, sha256: ContentDigest(hashing: Array(content.utf8)))
    }

    /// - Parameter bytes: Of a store; without a header, of pages of 4096 bytes.
    func manifest(_ name: String, _ bytes: [UInt8]) throws -> Manifest {
        guard let name = StoreName(name), let time = Timestamp("2026-11-20T19:04:05Z") else { throw Bad() }
        let digest = ContentDigest(hashing: bytes)
        let declared = Int64(bytes[16]) << 8 | Int64(bytes[17])
        let pageSize = declared == 0 ? 4096 : declared
        return Manifest(
            name: name, createdAt: time, producer: Manifest.Software(software: "test", sqlite: "3"),
            store: StoreFacts(
                size: Int64(bytes.count), sha256: digest, pageSize: Int(pageSize),
                pageCount: Int64(bytes.count) / pageSize,
                textEncoding: .utf8, applicationID: 0, userVersion: 0, schemaSHA256: digest),
            identity: "sample", coreData: Manifest.CoreDataFacts(entityVersionHashes: [:]),
            externalFiles: files.sorted { $0.key < $1.key }.map { file, content in
                ExternalFile(
                    name: file, size: Int64(content.utf8.count), sha256: ContentDigest(hashing: Array(content.utf8)))
            },
            missingExternalFiles: missing, omissions: omissions, tables: tables, metadata: metadata)
    }
}
