import CoreDataReading
import EssentialFoundation
import ShipProtocol
import StoreFiles
public import SystemPackage

extension EntityModel {
    /// Largest file that is read, in bytes: as large as the largest manifest.
    private static let sizeLimit = Int64(Limits.manifestSize)
    private static let versionInfo: FilePath.Component = "VersionInfo.plist"

    /// A reader's models, from a `.momd`, its `VersionInfo.plist` (binary or XML), or JSON, which is either
    /// `{"Recipe": "<base64 of 32 bytes>", ...}` or the `coreData` of a manifest.
    ///
    /// - Returns: Every version that the file lists, the current one first: a store is opened with the very version it is of.
    public static func all(in path: FilePath) throws(ModelFileError) -> [EntityModel] {
        let bytes = try read(path)
        let isJSON = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
        return isJSON ? [try model(fromJSON: bytes, name(of: path), path)] : try models(inList: bytes, path)
    }

    private static func read(_ path: FilePath) throws(ModelFileError) -> [UInt8] {
        guard let file = try open(path) else { throw .notARegularFile(path) }
        let status = try ModelFileError.wrapping { () throws(FileError) in try file.status }
        guard status.kind == .file else { throw .notARegularFile(file.path) }
        guard status.size <= sizeLimit else { throw .tooLarge(file.path, limit: sizeLimit) }
        return try ModelFileError.wrapping { () throws(FileError) in try file.read(Int(status.size), at: 0) }
    }

    /// No link is followed.
    ///
    /// - Returns: `nil` for what is neither a file nor a folder.
    private static func open(_ path: FilePath) throws(ModelFileError) -> OpenFile? {
        try ModelFileError.wrapping { () throws(FileError) in
            switch try PlatformCalls.status(of: path).kind {
            case .folder: try OpenFolder(path).file(versionInfo)
            case .file: try OpenFile.readingWithoutFollowing(path)
            case .symbolicLink, .pipe, .socket, .characterDevice, .other: nil
            }
        }
    }

    /// `NSManagedObjectModel_VersionHashes`: version name -> entity name -> 32 bytes.
    private static func models(inList bytes: [UInt8], _ path: FilePath) throws(ModelFileError) -> [EntityModel] {
        guard let list = PropertyListValue(bytes)?.dictionary else { throw .unreadable(path, .noPropertyList) }
        guard let versions = list["NSManagedObjectModel_VersionHashes"]?.dictionary, !versions.isEmpty else {
            throw .unreadable(path, .noVersions)
        }
        let current = list["NSManagedObjectModel_CurrentVersionName"]?.string
        let names = versions.keys.sorted { ($0 != current ? 1 : 0, $0) < ($1 != current ? 1 : 0, $1) }
        return try names.map { name throws(ModelFileError) in
            try model(name, of: entities(versions[name]?.dictionary ?? [:]), path)
        }
    }

    private static func model(
        fromJSON bytes: [UInt8], _ name: String, _ path: FilePath
    ) throws(ModelFileError) -> EntityModel {
        let decoder = JSONDecoder()
        let facts = try? decoder.decode(Manifest.CoreDataFacts.self, from: Data(bytes))
        guard
            let hashes = facts?.entityVersionHashes
                ?? (try? decoder.decode([ForeignText: String].self, from: Data(bytes)))
        else { throw .unreadable(path, .noJSONOfHashes) }
        return try model(name, of: hashes.mapValues { Data(base64Encoded: $0).map(Array.init) }, path)
    }

    private static func model(
        _ name: String, of entities: [ForeignText: [UInt8]?], _ path: FilePath
    ) throws(ModelFileError) -> EntityModel {
        guard !entities.isEmpty, entities.count <= Limits.entities else {
            throw .unreadable(path, .entityCount(entities.count))
        }
        var hashes: [ForeignText: [UInt8]] = [:]
        for (entity, hash) in entities {
            guard let hash, hash.count == hashSize else {
                throw .unreadable(path, .badHash(entity: entity))
            }
            hashes[entity] = hash
        }
        return EntityModel(name: ForeignText(name), hashes: hashes)
    }

    private static func entities(_ list: [String: PropertyListValue]) -> [ForeignText: [UInt8]?] {
        Dictionary(list.map { (ForeignText($0.key), $0.value.data) }) { first, _ in first }
    }

    private static func name(of path: FilePath) -> String { path.lastComponent?.text ?? path.text }
}
