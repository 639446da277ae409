public import ShipProtocol
public import StoreFiles
public import SystemPackage

/// Why a store's metadata could not be set. The store is as it was, unless a sync has failed.
public enum MetadataError: Error, Hashable, Sendable {
    /// The pairs would break a rule of `Protocol/README.md` section 4.7, in words for people.
    case notAllowed(String)
    /// Another connection was writing for as long as the busy timeout.
    case busy(FilePath, waited: Duration)
    /// The file, or its folder, cannot be written to.
    case readOnly(FilePath)
    /// `Z_METADATA` has no row, or its property list cannot be read.
    case unreadablePropertyList(FilePath)
    /// There is a table of the name under which the pairs would be kept, and it is not ours.
    case tableIsTaken(String)
    case cancelled
    /// SQLite cannot read or write it: it is encrypted or damaged, or needs what only its app has; in SQLite's own words.
    case unusable(FilePath, complaint: ForeignText)
    case noSpace(folder: FilePath, RoomLimit)
    /// A call of the platform failed. If it is a sync, the pairs are set, and a power cut may take them back.
    case file(FileError)
    /// Any other error of SQLite: the extended result code (sqlite.org/rescode.html) and its message.
    case sqlite(code: Int32, message: ForeignText)
}
