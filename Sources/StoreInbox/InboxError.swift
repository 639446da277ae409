import EssentialFoundation
public import ShipProtocol
public import StoreFiles
public import SystemPackage

/// Why a shipment cannot be installed, or an inbox not be used. Whatever it is, `current` is as it was.
public enum InboxError: Error, Hashable, Sendable {
    /// Another receiver owns the inbox: its process, if it said so.
    case inboxInUse(FilePath, process: Int32?)
    /// Something that is not ours stands where the inbox puts a link to the store.
    case occupied(FilePath)
    /// The disk cannot hold what the manifest announces, in bytes.
    case noSpace(needed: Int64, free: Int64)
    /// A part has another size or digest than the manifest says, as re-read from the medium.
    case mismatch(FilePath)
    /// The installed manifest cannot be read.
    case badManifest(FilePath, flaw: ForeignText)
    /// A file or folder that the inbox names is gone.
    case lost(FilePath)
    /// A later version of this program made the inbox, in a format that this one does not know.
    case newerFormat(FilePath, Int)
    /// The folder is not there, or is no inbox.
    case noInbox(FilePath)
    /// A file was named as an inbox.
    case notAFolder(FilePath)
    /// The inbox was removed while a receiver had it: nothing can be installed there, and nobody else is kept out of a new one.
    case inboxRemoved(FilePath)
    /// The folder is where another one, an inbox, keeps its stores, or lies there.
    case insideInbox(FilePath, inbox: FilePath)
    /// The inbox, or a folder of it, belongs to another user, of this number.
    case ofOtherUser(FilePath, UInt32)
    /// Others than its owner may change what is in the inbox, or in a folder of it.
    case openToOthers(FilePath)
    /// The file system of the inbox has no symbolic links, by which its readers find what is current.
    case noSymbolicLinks(FilePath)
    /// The file system of the inbox is read-only, so that nothing could be removed.
    case readOnly(FilePath)
    /// There is no such store in the inbox, or it has no current generation. These are of a name that is like it.
    case noSuchStore(StoreName, near: [ForeignText] = [])
    /// The generation is not kept, or was never current.
    case noSuchGeneration(StoreName, number: Int)
    /// There is nothing to go back to: every older generation that is kept was rolled back already.
    case noOlderGeneration(StoreName)
    /// Another process or thread has been changing the store's generations for this long.
    case storeBusy(StoreName, waited: Duration)
    /// Readers hold these generations of a store that is to go.
    case held(StoreName, numbers: [Int])
    /// The store has this generation already, and only a first one is adopted.
    case hasGenerations(StoreName, current: Int)
    /// The operator went back to an older generation of the store, at this time, and has not released the store since.
    case onHold(StoreName, since: Timestamp)
    /// The operator went back from this very store, as generation `number`, and has not said otherwise.
    case rolledBack(StoreName, number: Int)
    /// The record of the generations that were rolled back cannot be read.
    case badRecord(FilePath, flaw: String)
    /// The record of the device that a store's shipments are of, and how far they have come, cannot be read.
    case badOrigin(FilePath)
    /// The shipment does not follow on those that came before it.
    case outOfSequence(StoreName, SequenceFlaw)
    /// The store that is held under the name is another one.
    case otherStore(StoreName, SuccessionError)
    /// A call of the platform failed.
    case file(FileError)

    /// Whether nothing is wrong but that the work was to stop.
    package var isCancellation: Bool {
        if case .file(let error) = self { error.isCancellation } else { false }
    }

    /// Whether it is for want of room.
    public var isOutOfSpace: Bool {
        switch self {
        case .noSpace: true
        case .file(let error): error.isOutOfSpace
        default: false
        }
    }
}

extension InboxError: FileErrorWrapping {
    package init(_ refusal: DiskReservation.Refusal) {
        switch refusal {
        case .tooLittle(let needed, let free): self = .noSpace(needed: needed, free: free)
        case .file(let error): self = .file(error)
        }
    }
}

extension OpenFolder {
    /// Reads a JSON record of this program.
    ///
    /// - Parameters:
    ///   - limit: Size of the largest file that is read, in bytes.
    ///   - flaw: Thrown for a file that holds no such record.
    ///   - unreadable: Thrown in its place for a file that is too large, and for what is no regular file.
    /// - Returns: `nil` if there is no file.
    /// - Throws: The two, and `.file`.
    package func record<Record: Decodable>(
        at path: FilePath, upTo limit: Int64 = 4096, _ flaw: InboxError, unreadable: InboxError? = nil
    ) throws(InboxError) -> Record? {
        let bytes: [UInt8]
        do throws(FileError) {
            let file = try file(at: path)
            let size = try file.size
            guard size <= limit else { throw FileError(.read, path, .fileTooLarge) }
            bytes = try file.read(Int(size), at: 0)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: return nil
            case .fileTooLarge, .invalidArgument, .tooManySymbolicLinkLevels: throw unreadable ?? flaw
            default: throw .file(error)
            }
        }
        guard let record = try? JSONDecoder().decode(Record.self, from: Data(bytes)) else { throw flaw }
        return record
    }

    /// The same for a record that this program can do without.
    ///
    /// - Returns: `nil` if there is none, or none that can be read.
    func recordIfReadable<Record: Decodable>(at path: FilePath, upTo limit: Int64 = 4096) -> Record? {
        try? record(at: path, upTo: limit, .badRecord(path, flaw: ""))
    }
}
