public import StoreFiles
public import SystemPackage

/// Why this device's identity, or the list of those whom it trusts, cannot be used.
public enum IdentityError: Error, Hashable, Sendable {
    /// Other users may read or change it.
    case exposed(FilePath, FilePermissions)
    /// It belongs to another user.
    case otherOwner(FilePath, user: UInt32)
    /// It is a symbolic link, or anything else than a file or folder with one name.
    case notPlain(FilePath)
    /// What is in it makes no sense.
    case damaged(FilePath, flaw: String)
    /// Another program is changing it, and does not come to an end.
    case busy(FilePath)
    /// The certificate could not be made.
    case notMade
    case file(FileError)
}
