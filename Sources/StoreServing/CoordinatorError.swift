public import ShipProtocol
public import StoreFiles
public import StoreInbox
public import SystemPackage

/// Why a store cannot be read, pinned or found. What SQLite itself has to say comes as GRDB's `DatabaseError`.
public enum CoordinatorError: Error, Hashable, Sendable {
    /// There is no store of that name, or none of its shipments has been installed yet. Where there is no inbox it is `.inbox(.noInbox)`.
    case noSuchStore(String)
    /// There are fewer stores than that: `count` of them.
    case noSuchIndex(Int, count: Int)
    /// No store was named, and there is not exactly one.
    case notOneStore(count: Int)
    /// Two files would have the same name.
    case sameName(StoreName)
    /// The file that was called settled is in WAL mode: opening it would make files beside it.
    case inWALMode(FilePath)
    /// The file that was called settled has another one of SQLite's beside it, which holds part of the data.
    case hasSidecar(FilePath, FilePath)
    /// Something other than a regular file stands where the store should be.
    case notAFile(FilePath)
    /// Only the generations of an inbox can be pinned: a file of its own has none.
    case hasNoGenerations(StoreName)
    /// Only a file of its own can be restored: what is in an inbox gets new generations instead.
    case hasNoFile(StoreName)
    /// Another process keeps the generation locked, as if to remove it, and does not remove it.
    case generationLocked(StoreName)
    /// The copy may lack what was committed longer ago than the limit, as far as is known.
    case tooOld(StoreName, CopyAge, limit: Duration)
    /// The pin was given back before.
    case released
    /// The coordinator is suspended, or was while the read was under way: `resume` it, then read again.
    case suspended
    /// The pinned generation was removed while the coordinator was suspended: pin the one that is current now.
    case generationGone(StoreName, number: Int)
    /// The store's shipment says nothing of the external file.
    case noExternalFile(ExternalFileName)
    /// The external file was left out of the shipment on the producer's word: its size there, in bytes.
    case externalFileLeftOut(ExternalFileName, size: Int64)
    /// The producer did not have the external file.
    case externalFileMissingAtProducer(ExternalFileName)
    case inbox(InboxError)
    case file(FileError)
}

extension CoordinatorError: FileErrorWrapping {
    /// Why a store is not there: perhaps there is no inbox.
    init(withoutStore name: StoreName, in inbox: Inbox?) {
        do throws(InboxError) {
            _ = try inbox?.storeNames()
            self = .noSuchStore(name.text)
        } catch {
            self = .inbox(error)
        }
    }

    /// Looks into an inbox, its errors as those of the coordinator.
    static func looking<Value: ~Copyable>(_ look: () throws(InboxError) -> Value) throws(CoordinatorError) -> Value {
        do throws(InboxError) {
            return try look()
        } catch {
            throw .inbox(error)
        }
    }

    /// The current generation of a store; `nil` if there is none, or there is no inbox.
    static func current(of name: StoreName, in inbox: Inbox) throws(CoordinatorError) -> GenerationName? {
        do throws(InboxError) {
            return try inbox.open().currentName(of: name)
        } catch {
            switch error {
            case .noInbox: return nil
            case .file(let error): throw .file(error)
            default: throw .inbox(error)
            }
        }
    }
}
