import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport

@testable import StoreBases

/// A copy as the stages before hand it over: a manifest, and a file in a temporary folder. The memory does not look into it.
struct Acknowledged {
    let manifest: Manifest
    let bytes: [UInt8]
    let files: [[UInt8]]

    private static let pageSize = 512  // bytes

    /// - Parameters:
    ///   - text: What is in the copy, up to the end of a page.
    ///   - counter: In which equal copies may differ.
    ///   - files: What its external files have.
    init(_ text: String, pages: Int = 1, name: StoreName = .recipes, counter: UInt64 = 1, files: [[UInt8]] = []) throws
    {
        let size = pages * Self.pageSize
        bytes = Array(text.utf8) + [UInt8](repeating: 0, count: size - text.utf8.count)
        let digest = ContentDigest(hashing: bytes)
        self.files = files
        guard let time = Timestamp("2026-11-20T19:04:05Z") else { throw BadSample() }
        manifest = Manifest(
            name: name, createdAt: time, producer: Manifest.Software(software: "test", sqlite: "3"),
            store: StoreFacts(
                size: Int64(size), sha256: digest, pageSize: Self.pageSize, pageCount: Int64(pages),
                textEncoding: .utf8,
                applicationID: 0, userVersion: 0, schemaSHA256: digest),
            coreData: files.isEmpty ? nil : Manifest.CoreDataFacts(entityVersionHashes: [:]),
            externalFiles: try files.map { try ExternalFile($0) }, counter: counter)
    }

    /// The file of the copy, in a folder.
    func file(in folder: FilePath) throws -> FilePath {
        let path = folder.appending("copy \(UUID().uuidString)")
        try OpenFile.creating(path).write(bytes)
        return path
    }

    /// Remembers it, as a sender does that has made the copy where it was told to.
    @discardableResult
    func remember(
        in memory: BaseMemory, as key: BaseKey, by receiver: String = "watch:7645", state: [UInt8]? = nil
    ) throws -> Remembering {
        let place = try TemporaryFolder(
            in: memory.workingFolder(for: manifest.store.size) ?? TemporaryFolder.defaultParent)
        var parts: [(part: Manifest.Part, path: FilePath)] = []
        for (part, bytes) in zip(manifest.parts.dropFirst(), files) {
            let path = place.path.appending("external \(part.sha256.short)")
            try OpenFile.creating(path).write(bytes)
            parts.append((part, path))
        }
        return memory.remember(
            manifest, copy: try file(in: place.path), files: parts, as: key, receiver: receiver, state: state)
    }
}

struct BadSample: Error {}

extension ExternalFile {
    /// Of a name of its own.
    fileprivate init(_ bytes: [UInt8]) throws {
        guard let name = ExternalFileName(folder: .externalData, uuid: UUID().uuidString) else { throw BadSample() }
        self.init(name: name, size: Int64(bytes.count), sha256: ContentDigest(hashing: bytes))
    }
}

extension StoreName {
    static let recipes = StoreName(suggestedBy: "Recipes.sqlite")
    static let tea = StoreName(suggestedBy: "Tea.sqlite")
}

extension BaseKey {
    /// Of a store that nobody looks for.
    init(_ store: FilePath = "/phone/Recipes.sqlite", name: StoreName = .recipes, profile: String = "all") {
        self.init(name: name, store: store, profile: ContentDigest(hashing: profile.utf8))
    }
}

extension BaseMemory {
    var objects: FilePath { folder.appending(Self.objectFolder) }

    /// Files of copies and manifests.
    var objectNames: [String] { (try? Folder.names(in: objects)) ?? [] }

    /// The only copy of a store.
    func onlyCopy(of key: BaseKey) throws -> RememberedCopy {
        let copies = copies(of: key)
        guard let copy = copies.first, copies.count == 1 else { throw BadSample() }
        return copy
    }
}

extension FilePath {
    var content: [UInt8] {
        get throws { Array(try Data(contentsOf: URL(fileURLWithPath: string))) }
    }
}
