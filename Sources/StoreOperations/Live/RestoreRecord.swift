import EssentialFoundation
package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// The files that a restore is about to put beside a store, and those that go with the old state where no copy of it is kept, written
/// down before. After a crash the next restore learns from it which of them are not needed.
///
///     FOLDER/.Recipes.sqlite.restoring    JSON
package struct RestoreRecord: Hashable, Sendable, Codable {
    /// When the first of the restores began that have not come to their end.
    package let begun: Timestamp
    /// External files that were not there before, or are to go, by their paths in the support folder, sorted.
    private let externalFiles: [String]

    /// Longest record that is read, in bytes.
    private static let longest: Int64 = 16 * 1024 * 1024

    /// - Parameter earlier: What restores before this one have left.
    package init(begun: Timestamp, adding files: some Sequence<ExternalFileName>, to earlier: RestoreRecord?) {
        self.begun = min(begun, earlier?.begun ?? begun)
        externalFiles = Set(files.map(\.relativePath)).union(earlier?.externalFiles ?? []).sorted()
    }

    package func lists(_ file: ExternalFileName) -> Bool { externalFiles.contains(file.relativePath) }

    private static func path(for home: StoreHome) -> FilePath {
        home.folder.appending(text: ".\(home.name(leaving: 11)).restoring")
    }

    /// - Returns: `nil` if no restore was cut off, or what is there is not ours.
    package init?(of home: StoreHome) throws(FileError) {
        let path = Self.path(for: home)
        guard let status = try PlatformCalls.statusIfThere(of: path), status.kind == .file,
            status.size <= Self.longest, home.trusts(status)
        else { return nil }
        let bytes = try FileError.unlessAbsent { () throws(FileError) in
            try OpenFile.readingWithoutFollowing(path).read(Int(status.size), at: 0)
        }
        guard let bytes, let record = try? JSONDecoder().decode(RestoreRecord.self, from: Data(bytes))
        else { return nil }
        self = record
    }

    /// Durable when this returns; written first in a folder on the same file system.
    package func write(for home: StoreHome, in staging: FilePath) throws(FileError) {
        let staged = staging.appending("record")
        let path = Self.path(for: home)
        if try Self(of: home) == nil, try PlatformCalls.isThere(path) {
            throw FileError(.write, path, .fileExists)
        }
        try OpenFile.write(jsonBytes, to: staged, attributes: home.attributes)
        try PlatformCalls.rename(staged, to: path)
        try Folder.sync(home.folder)
    }

    /// Removes the record, once no file that it lists is left over.
    package static func remove(for home: StoreHome) {
        guard (try? Self(of: home)) != nil, (try? PlatformCalls.removeFile(path(for: home))) != nil else { return }
        try? Folder.sync(home.folder)
    }
}
