import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport

@testable import StoreInstall

/// A shipment as the stages before hand it over: a manifest, and the bytes of its parts. The store is any bytes: the
/// installer does not look into it.
struct Shipment {
    let manifest: Manifest
    let parts: [[UInt8]]

    /// - Parameters:
    ///   - store: What is in the store's file.
    ///   - files: What is in each external file, by the last digits of its UUID.
    init(_ store: String, files: [Int: String] = [:], name: String = "Recipes", metadata: [String: ForeignText] = [:])
        throws
    {
        let files = files.sorted { $0.key < $1.key }
        parts = [Self.pages(store)] + files.map { Array($0.value.utf8) }
        let external = try zip(files, parts.dropFirst()).map { file, bytes in
            ExternalFile(
                name: try Self.fileName(file.key), size: Int64(bytes.count), sha256: ContentDigest(hashing: bytes))
        }
        guard let name = StoreName(name), let time = Timestamp("2026-11-20T19:04:05Z") else { throw BadSample() }
        let digest = ContentDigest(hashing: parts[0])
        manifest = Manifest(
            name: name, createdAt: time, producer: Manifest.Software(software: "test", sqlite: "3"),
            store: StoreFacts(
                size: Int64(parts[0].count), sha256: digest, pageSize: Self.pageSize,
                pageCount: Int64(parts[0].count / Self.pageSize), textEncoding: .utf8,
                applicationID: 0, userVersion: 0, schemaSHA256: digest),
            identity: "0E9C7A52", coreData: Manifest.CoreDataFacts(entityVersionHashes: [:]), externalFiles: external,
            metadata: metadata)
    }

    init(_ manifest: Manifest, _ parts: [[UInt8]]) {
        self.manifest = manifest
        self.parts = parts
    }

    private static let pageSize = 512  // bytes

    /// The text, and zeros up to the end of a page: a manifest says pages.
    static func pages(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        let count = max(1, (bytes.count + pageSize - 1) / pageSize) * pageSize
        return bytes + [UInt8](repeating: 0, count: count - bytes.count)
    }

    struct BadSample: Error {}

    static func fileName(_ number: Int) throws -> ExternalFileName {
        let digits = String(number)
        let uuid = "00000000-0000-0000-0000-" + String(repeating: "0", count: 12 - digits.count) + digits
        guard let name = ExternalFileName(folder: .externalData, uuid: uuid) else { throw BadSample() }
        return name
    }

    /// Stages it: all that is not `present` comes.
    func stage(with installer: Installer, present: [Int: FilePath] = [:]) throws -> StagedGeneration {
        let staged = try installer.stage(manifest, present: present)
        for (index, bytes) in parts.enumerated() where present[index] == nil && !bytes.isEmpty {
            try staged.append(bytes, toPart: index)
        }
        return staged
    }

    /// Brings it through all of the installation.
    @discardableResult
    func install(
        with installer: Installer, open: (Generation) async throws -> Void = { _ in }
    ) async throws -> Generation {
        var present: [Int: FilePath] = [:]
        if case .stage(let held) = try installer.plan(for: manifest) { present = held }
        let staged = try stage(with: installer, present: present)
        let sealed = try staged.seal()
        return try await installer.install(sealed, open: open)
    }
}

/// What is in an inbox, by the paths in it.
struct InboxContent {
    let root: FilePath
    let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        root = scratch.path.appending("inbox")
    }

    /// - Parameter grace: How long what was current a moment ago stays for that reason.
    func installer(keeping kept: Int = 3, grace: Duration = .zero) throws(InboxError) -> Installer {
        try Installer(inbox: Inbox(at: root), keeping: Retention(count: kept, grace: grace))
    }

    var store: FilePath { root.appending(".ship-store").appending("Recipes") }
    var generations: [String] { (try? Folder.names(in: store.appending("generations"))) ?? [] }
    var numbers: [Int] { generations.compactMap { GenerationName($0)?.number }.sorted() }
    var staging: [String] { (try? Folder.names(in: store.appending("staging"))) ?? [] }
    var current: String? { try? PlatformCalls.targetOfSymbolicLink(at: store.appending("current")).string }
    var names: [String] { (try? Folder.names(in: root)) ?? [] }

    /// What a user reads, without the zeros at the end.
    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: "\(root)/\(name)").map {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    static let supportFolder = ".Recipes_SUPPORT/_EXTERNAL_DATA"
}
