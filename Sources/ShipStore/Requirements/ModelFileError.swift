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

extension ModelFileError {
    /// Calls of the platform, their errors as ours.
    static func wrapping<Result: ~Copyable>(
        _ body: () throws(FileError) -> Result
    ) throws(ModelFileError) -> Result {
        do throws(FileError) {
            return try body()
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: throw .notThere(error.path)
            case .tooManySymbolicLinkLevels: throw .notARegularFile(error.path)
            default: throw .file(error)
            }
        }
    }
}
