import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// The record of a kept copy beside its manifest, as `copy.json` in its folder. It stays on this device: a shipment of the copy consists of
/// the store and its external files, and does not say where the store was.
///
///     {"number": 7, "store": "/path/to/Recipes.sqlite"}
///
/// A copy of a damaged store, which was kept as evidence, has a member `damage` too.
package struct CopyRecord: Hashable, Sendable, Codable {
    /// From 1; what is put into the folder later has a higher one, whatever the clock says.
    package let number: Int
    /// The store that it is a copy of: absolute, and without symbolic links. As in `PathText`.
    package let store: String
    /// The first complaint of SQLite's check, or the beginning of a long one; `nil` for a sound copy.
    let damage: ForeignText?

    static let file = "copy.json"
    /// Largest record that is read, in bytes: a path of 4096 bytes and a complaint, each of their bytes escaped.
    private static let sizeLimit: Int64 = 32 * 1024
    /// Longest complaint, in bytes.
    private static let longestDamage = 512

    /// - Parameter number: Not above `Limits.generation`, which a record that was tampered with may have reached.
    init(number: Int, store: FilePath, damage: ForeignText? = nil) {
        self.number = min(number, Limits.generation)
        self.damage = damage.map {
            ForeignText(String(decoding: $0.unescaped.utf8.prefix(Self.longestDamage), as: UTF8.self))
        }
        self.store = store.text
    }

    /// - Throws: `.badRecord`, `.file`.
    static func read(in folder: borrowing OpenFolder) throws(InboxError) -> CopyRecord {
        let path = folder.path.appending(file)
        let flaw = InboxError.badRecord(path, flaw: "not a record of a copy")
        guard let record: CopyRecord = try folder.record(at: path, upTo: sizeLimit, flaw),
            (1...Limits.generation).contains(record.number)
        else { throw flaw }
        return record
    }

    /// Writes it, read-only, into the folder of a copy that is not visible yet, and syncs it, but not the folder.
    func write(in folder: FilePath, _ attributes: FileAttributes?) throws(FileError) {
        try OpenFile.write(jsonBytes, to: folder.appending(Self.file), mode: .ownerRead, attributes: attributes)
    }
}
