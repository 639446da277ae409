import EssentialFoundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// What a kept copy records beside its manifest, as `copy.json` in its folder. It stays on this device: a shipment of the copy
/// consists of the store and its external files, and does not say where the store was.
///
///     {"number": 7, "store": "/path/to/Recipes.sqlite"}
///
/// A copy of a damaged store, which was kept as evidence, has a member `damage` too.
///
/// Copies that were kept by early versions have no record.
package struct CopyRecord: Hashable, Sendable, Codable {
    /// From 1; what is put into the folder later has a higher one, whatever the clock says.
    package let number: Int
    /// The store that it is a copy of: absolute, and without symbolic links. As in `PathText`; `nil` in records of early versions
    /// where the path was no UTF-8.
    package let store: String?
    /// What SQLite's check complained of first; `nil` for a sound copy.
    let damage: ForeignText?

    static let file = "copy.json"
    /// Largest record that is read, in bytes: a path of 4096 bytes, each of them escaped.
    private static let sizeLimit: Int64 = 32 * 1024

    /// - Parameter number: Not above `Limits.generation`, which a record that was tampered with may have reached.
    init(number: Int, store: FilePath?, damage: ForeignText? = nil) {
        self.number = min(number, Limits.generation)
        self.damage = damage
        self.store = store?.text
    }

    /// - Returns: `nil` if the copy has none.
    /// - Throws: `.badRecord`, `.file`.
    static func read(in folder: borrowing OpenFolder) throws(InboxError) -> CopyRecord? {
        let path = folder.path.appending(file)
        let flaw = InboxError.badRecord(path, flaw: "not a record of a copy")
        let record = try folder.record(CopyRecord.self, at: path, upTo: sizeLimit, unreadable: flaw, undecodable: flaw)
        guard record.map({ (1...Limits.generation).contains($0.number) }) != false else { throw flaw }
        return record
    }

    /// Writes it, read-only, into the folder of a copy that is not visible yet, and syncs it, but not the folder.
    func write(in folder: FilePath, _ attributes: FileAttributes?) throws(FileError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let path = folder.appending(Self.file)
        guard let bytes = try? encoder.encode(self) else { throw FileError(.write, path, .invalidArgument) }
        let file = try OpenFile.creating(path)
        try file.write(Array(bytes))
        try file.changeMode(to: .ownerRead)
        try attributes?.give(to: file)
        try file.sync()
    }
}

/// A word by which a user finds a kept copy again. It travels in the copy's metadata, as a pair whose key begins with
/// `tag.` and whose value is empty.
public struct CopyTag: Hashable, Sendable, Comparable {
    public let text: String

    /// The tag of the safety copies that restores keep.
    public static let beforeRestore = "before-restore"

    private static let prefix = "tag."

    /// - Throws: `.badTag` unless it is 1 to 60 letters, digits, dots, dashes and underscores, so that the key keeps to
    ///   the rules of metadata.
    public init(_ text: String) throws(OperationError) {
        guard !text.isEmpty, Manifest.firstFlaw(ofMetadata: [Self.prefix + text: ""]) == nil else {
            throw .badTag(text)
        }
        self.text = text
    }

    private init?(key: String) {
        guard key.hasPrefix(Self.prefix), key.utf8.count > Self.prefix.utf8.count else { return nil }
        text = String(key.dropFirst(Self.prefix.count))
    }

    package var pair: (key: String, value: String) { (Self.prefix + text, "") }

    /// The tags in a copy's metadata, sorted, and the user's other pairs.
    static func split(_ metadata: [String: ForeignText]) -> (tags: [CopyTag], rest: [String: ForeignText]) {
        let tags = metadata.keys.compactMap(CopyTag.init(key:))
        return (tags.sorted(), metadata.filter { CopyTag(key: $0.key) == nil })
    }

    public static func < (left: CopyTag, right: CopyTag) -> Bool { left.text < right.text }
}

/// The name of a kept copy's folder: `<name>-<yyyyMMddTHHmmss>`, with `-2` and so on for further copies in one second.
struct CopyFolderName: Hashable {
    let store: StoreName
    /// 15 characters: `yyyyMMddTHHmmss`, UTC.
    let time: String
    /// From 1.
    let ordinal: Int

    private static let timeLength = 15

    init(_ store: StoreName, at time: Timestamp, ordinal: Int) {
        self.store = store
        self.time = time.compactText
        self.ordinal = ordinal
    }

    /// - Returns: `nil` for the names of other folders.
    init?(_ text: String) {
        var fields = text.split(separator: "-", omittingEmptySubsequences: false)
        var ordinal = 1
        if let last = fields.last.flatMap({ Int($0) }), last > 1, fields.count > 2 {
            ordinal = last
            fields.removeLast()
        }
        guard fields.count > 1, let time = fields.popLast(), Self.isTime(time),
            let store = StoreName(fields.joined(separator: "-"))
        else { return nil }
        self.store = store
        self.time = String(time)
        self.ordinal = ordinal
        guard self.text == text else { return nil }
    }

    private static func isTime(_ text: Substring) -> Bool {
        text.utf8.count == timeLength
            && text.utf8.enumerated().allSatisfy { index, byte in
                index == 8 ? byte == UInt8(ascii: "T") : (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }

    var text: String { "\(store)-\(time)\(ordinal == 1 ? "" : "-\(ordinal)")" }
}
