public import ShipProtocol
public import StoreFiles
public import SystemPackage

/// Why a reader's model cannot be read.
public enum ModelFileError: Error, Hashable, Sendable {
    case notThere(FilePath)
    /// A link, a pipe or a device: a model is a file, or the folder of one.
    case notARegularFile(FilePath)
    /// More bytes than `limit`.
    case tooLarge(FilePath, limit: Int64)
    case unreadable(FilePath, Flaw)
    case file(FileError)

    /// The fault of the content of the file.
    public enum Flaw: Hashable, Sendable {
        case noPropertyList
        /// It is no `VersionInfo.plist`.
        case noVersions
        case noJSONOfHashes
        /// A model has no entity, or more than a manifest may list.
        case entityCount(Int)
        /// It is not 32 bytes.
        case badHash(entity: ForeignText)
    }
}

extension ModelFileError: FileErrorWrapping {
    package init(ofFile error: FileError) {
        switch error.errno {
        case .noSuchFileOrDirectory: self = .notThere(error.path)
        case .tooManySymbolicLinkLevels: self = .notARegularFile(error.path)
        default: self = .file(error)
        }
    }
}
