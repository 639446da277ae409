import StoreFormat
package import SystemPackage

/// Where entries go that do not fit into memory: a file without a name, which is gone with its owner, or with the process.
package final class EntrySpill: SpillFile {
    private let file: OpenFile

    /// - Parameter path: A name that is free, and free again once this is made.
    package init(at path: FilePath) throws(FileError) {
        file = try OpenFile.creating(path)
        try PlatformCalls.removeFile(path)
    }

    package func append(_ bytes: [UInt8]) throws { try file.write(bytes) }

    package func read(_ count: Int, at offset: Int64) throws -> [UInt8] { try file.read(count, at: offset) }
}
