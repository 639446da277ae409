public import StoreFiles
public import SystemPackage

/// Why this device's identity, or its list of trusted devices, cannot be used.
public enum IdentityError: Error, Hashable, Sendable {
    /// Other users may read or change it.
    case exposed(FilePath, FilePermissions)
    /// It belongs to another user.
    case otherOwner(FilePath, user: UInt32)
    /// It is a symbolic link, or not a file or folder with one name.
    case notPlain(FilePath)
    /// A later version of this program wrote it, in a format of this version, which this one does not know.
    case newerFormat(FilePath, Int)
    /// Its content makes no sense.
    case damaged(FilePath, flaw: String)
    /// Another program has locked it for too long.
    case busy(FilePath)
    /// The task was cancelled while it waited for that.
    case stopped
    /// The certificate could not be made.
    case notMade
    /// Nothing can be encrypted with this key.
    case badKey(EncryptionKey)
    case file(FileError)
}

extension IdentityError: FileErrorWrapping {}
