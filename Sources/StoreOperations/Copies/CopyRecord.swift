import EssentialFoundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// What a kept copy remembers beside its manifest, as `copy.json` in its folder. It stays on this device: a shipment of the
/// copy is made of the store and its external files, and says nothing of where the store was.
///
///     {"number": 7, "store": "/path/to/Recipes.sqlite"}
///
/// A copy that was kept before there was such a record has none.
package struct CopyRecord: Hashable, Sendable, Codable {
    /// From 1; what is put into the folder later has a higher one, whatever the clock says.
    package let number: Int
    /// The store that it is a copy of: absolute, and without symbolic links. `nil` where the path is no UTF-8.
    package let store: String?

    static let file = "copy.json"
    /// Largest record that is read, in bytes: a path of 4096 bytes, each of them escaped.
    private static let sizeLimit: Int64 = 32 * 1024

    /// - Parameter number: Not above `Limits.generation`, which a record that was tampered with may have reached.
    init(number: Int, store: FilePath?) {
        self.number = min(number, Limits.generation)
        self.store = store.flatMap { String(validating: $0) }
    }

    /// - Returns: `nil` if the copy has none.
    /// - Throws: `.badRecord`, `.file`.
    static func read(in folder: borrowing OpenFolder) throws(InboxError) -> CopyRecord? {
        let path = folder.path.appending(file)
        let bytes: [UInt8]
        do throws(FileError) {
            let file = try folder.file(at: path)
            let size = try file.size
            guard size <= sizeLimit else { throw FileError(.read, path, .fileTooLarge) }
            bytes = try file.read(Int(size), at: 0)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: return nil
            case .fileTooLarge, .invalidArgument, .tooManySymbolicLinkLevels:
                throw .badRecord(path, flaw: "not a record of a copy")
            default: throw .file(error)
            }
        }
        guard let record = try? JSONDecoder().decode(CopyRecord.self, from: Data(bytes)),
            (1...Limits.generation).contains(record.number)
        else { throw .badRecord(path, flaw: "not a record of a copy") }
        return record
    }

    /// Writes it into the folder of a copy that nobody sees yet, read-only, and syncs it; not the folder.
    func write(in folder: FilePath) throws(FileError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let path = folder.appending(Self.file)
        guard let bytes = try? encoder.encode(self) else { throw FileError(.write, path, .invalidArgument) }
        let file = try OpenFile.creating(path)
        try file.write(Array(bytes))
        try file.changeMode(to: .ownerRead)
        try file.sync()
    }
}
