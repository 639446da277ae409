public import ShipProtocol
public import StoreFiles
public import StoreInbox
public import SystemPackage

/// Why a store cannot be read, pinned or found. What SQLite itself has to say comes as GRDB's `DatabaseError`.
public enum CoordinatorError: Error, Hashable, Sendable {
    /// There is no store of that name, or none of its shipments has been installed yet.
    case noSuchStore(String)
    /// There are fewer stores than that: `count` of them.
    case noSuchIndex(Int, count: Int)
    /// No store was named, and there is not exactly one.
    case notOneStore(count: Int)
    /// Two files would have the same name.
    case sameName(StoreName)
    /// The file that was called settled is not.
    case notSettled(FilePath, Unsettled)
    /// Something other than a regular file stands where the store should be.
    case notAFile(FilePath)
    /// Only the generations of an inbox can be pinned: a file of its own has none.
    case hasNoGenerations(StoreName)
    /// Only a file of its own can be restored: what is in an inbox gets new generations instead.
    case hasNoFile(StoreName)
    /// Somebody keeps the generation locked, as if to remove it, and does not.
    case generationLocked(StoreName)
    /// The pin was given back before.
    case released
    /// The coordinator is suspended, or was while the read was under way: `resume` it, then read again.
    case suspended
    /// The pinned generation was removed while the coordinator was suspended: pin the one that is current now.
    case generationGone(StoreName, number: Int)
    /// An external file cannot be had from the generation.
    case noExternalFile(ExternalFileName, Absence)
    case inbox(InboxError)
    case file(FileError)

    /// What tells that somebody writes to a file, or did not finish.
    public enum Unsettled: Hashable, Sendable {
        /// The file is in WAL mode: whoever opens it makes files beside it.
        case writeAheadLogMode
        /// This file stands beside it, and holds part of the data.
        case sidecar(FilePath)
    }

    /// Why an external file is not there.
    public enum Absence: Hashable, Sendable {
        /// The store's shipment says nothing of it.
        case unknown
        /// It was left out of the shipment on the producer's word: its size there, in bytes.
        case leftOut(size: Int64)
        /// The producer did not have it.
        case missingAtProducer
    }
}

extension CoordinatorError {
    /// Calls of the platform, their errors as ours.
    static func wrapping<Result: ~Copyable>(
        _ body: () throws(FileError) -> Result
    ) throws(CoordinatorError) -> Result {
        do throws(FileError) {
            return try body()
        } catch {
            throw .file(error)
        }
    }
}
