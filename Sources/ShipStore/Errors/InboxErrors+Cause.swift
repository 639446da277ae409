public import ShipProtocol
public import StoreInbox
public import StoreServing
import SystemPackage

extension InboxError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .inboxInUse(let path, let process):
            "\(path) is in use by another receiver" + (process.map { " (process \($0))" } ?? "")
        case .occupied(let path): "\(path) is in the way: something other than the inbox put it there"
        case .noSpace(let needed, let free):
            "the disk of the inbox has \(free) bytes free, and the shipment needs \(needed), what is to stay free included"
        case .mismatch(let path): "\(path.lastComponent?.text ?? "a file") is not what its digest says"
        case .badManifest(let path, let flaw): "\(path) cannot be read: \(flaw)"
        case .lost(let path): "\(path) is gone"
        case .newerFormat(let path, let version):
            "a later version of this program made \(path): its format is \(version), and this program knows \(InboxFolder.format)"
        case .noInbox(let path): "\(path) is no inbox"
        case .notAFolder(let path): "\(path) is a file, and an inbox is a folder"
        case .inboxRemoved(let path): "the inbox \(path) was removed or moved while a receiver had it"
        case .insideInbox(let path, let root): "\(path) is where the inbox \(root) keeps its stores"
        case .ofOtherUser(let path, let user):
            "\(path) belongs to another user (\(user)), who could change what is in it"
        case .openToOthers(let path): "others than its owner may change what is in \(path)"
        case .noSymbolicLinks(let path):
            "the file system of \(path) has no symbolic links, by which readers of an inbox find what is current"
        case .readOnly(let path): "the inbox \(path) is on a read-only file system: nothing was forgotten"
        case .noSuchStore(let name, _): "there is no store \(name) in the inbox"
        case .noSuchGeneration(let name, let number): "there is no generation \(number) of \(name)"
        case .noOlderGeneration(let name): "there is no generation of \(name) to go back to"
        case .storeBusy(let name, let waited): "somebody else has been changing \(name) for \(waited)"
        case .held(let name, let numbers):
            "a reader holds \(name), generation\(numbers.count == 1 ? "" : "s") "
                + "\(numbers.map(String.init).joined(separator: ", "))"
        case .otherStore(let name, let flaw): "another store is there under the name \(name): \(flaw.words)"
        case .hasGenerations(let name, let current):
            "the inbox has \(name) already, generation \(current), and only a first generation is adopted"
        case .onHold(let name, let since):
            "the receiver's operator went back to an older generation of \(name) at \(since.text), and holds it there"
        case .rolledBack(let name, let number):
            "the receiver's operator went back from this very store, its generation \(number) of \(name)"
        case .badRecord(let path, let flaw): "\(path) cannot be read: \(flaw)"
        case .badOrigin(let path): "\(path) cannot be read: it does not say which device the store is from"
        case .outOfSequence(let name, let flaw): flaw.cause(name)
        case .file(let error): error.cause
        }
    }

}

extension SequenceFlaw {
    fileprivate func cause(_ name: StoreName) -> PrintableText {
        switch self {
        case .replayed(let counter, let highest):
            "this shipment of \(name) is an old one: its number is \(counter), and \(highest) has been here"
        case .overtaken(let counter, let highest):
            "the relay is behind: \(name) is passed on with the number \(counter), and \(highest) has come already"
        case .tooFarAhead(let counter, let highest):
            "the number of this shipment of \(name), \(counter), is too far above the highest so far, \(highest)"
        case .older(let time, let current):
            "this shipment of \(name) is an old one: its copy is of \(time), and a later one, of \(current), is current"
        case .noCounter: "this shipment of \(name) has no number, as those before it have, so that it may be an old one"
        case .notCounted: "this shipment of \(name) has no number, and a device numbers those that it makes"
        case .noDevice:
            "\(name) comes from a device that is known, and this shipment does not say which device it is from"
        case .otherDevice: "\(name) has come from another device so far"
        }
    }
}

extension SuccessionError {
    fileprivate var words: PrintableText {
        switch self {
        case .otherIdentity: "its identity is not that of the shipment"
        case .noTableInCommon: "it has no table of the same name as any of the shipment"
        case .otherSchema: "its schema differs, and nothing says that it is the same store"
        case .isEmpty: "it has tables or rows, and the shipment has none"
        }
    }
}

extension StoreCheck.Flaw: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .header: "the header of the store is not that of a compact copy"
        case .unsound(let complaint): "the store is not sound: \(complaint)"
        case .contradictsManifest(let member): "the store is not as its manifest says: \(member)"
        case .tookTooLong(let limit): "checking the store took longer than \(limit / .seconds(1)) s"
        case .tookTooMuchMemory(let limit): "checking the store took more memory than \(limit / 1_048_576) MiB"
        case .unreadable(let code, let message): "SQLite cannot read the store: \(message) (code \(code))"
        case .checkerNotStarted(let errno): "the process that checks stores could not be started (errno \(errno))"
        case .checkerSignalled(let signal): "the process that checked the store was ended by signal \(signal)"
        case .checkerExited(let status):
            "the process that checked the store ended without a verdict, with status \(status)"
        case .checkerSaidNonsense: "the process that checked the store said what is no verdict"
        case .file(let error): error.cause
        }
    }
}

extension CopyAge {
    /// `12 s old`, rounded up.
    package var inWords: String { age.map { "\($0.inWholeSeconds) s old" } ?? "of unknown age" }
}

extension Duration {
    /// In seconds, rounded up: an age is not told as less than it is.
    package var inWholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}

extension CoordinatorError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .noSuchStore(let name): "there is no store \(name)"
        case .noSuchIndex(let index, let count): "there is no store at index \(index): there are \(count)"
        case .notOneStore(0): "there is no store yet"
        case .notOneStore(let count): "there are \(count) stores, and none was named"
        case .sameName(let name): "two files would be the store \(name)"
        case .inWALMode(let path): "\(path) is in WAL mode: an app may be writing to it"
        case .hasSidecar(let path, let sidecar):
            "part of \(path) may be in \(sidecar.lastComponent?.text ?? "a file beside it")"
        case .notAFile(let path): "\(path) is not a regular file"
        case .hasNoGenerations(let name): "\(name) is a file of its own, and cannot be pinned"
        case .hasNoFile(let name): "the store \(name) is in an inbox, where it is not written to"
        case .tooOld(let name, let age, let limit):
            "the copy of \(name) is \(age.inWords), and was to be no older than \(limit.inWholeSeconds) s"
        case .generationLocked(let name): "the current generation of \(name) is locked by another program"
        case .released: "the pin was given back before"
        case .suspended: "reading is suspended with the app"
        case .generationGone(let name, let number):
            "generation \(number) of \(name) was removed while reading was suspended"
        case .noExternalFile(let name): "the store has no external file \(name.relativePath)"
        case .externalFileLeftOut(let name, let size):
            "the external file \(name.relativePath), of \(size) bytes, was left out of the shipment"
        case .externalFileMissingAtProducer(let name):
            "the external file \(name.relativePath) was missing already where the store comes from"
        case .inbox(let error): error.cause
        case .file(let error): error.cause
        }
    }
}

extension Omissions {
    /// The parts that were left out, as a list in words.
    ///
    /// - Parameter bytes: How a size is said.
    public func words(bytes: (Int64) -> String = { "\($0) bytes" }) -> PrintableText {
        var parts: [PrintableText] = []
        if history { parts.append("the history") }
        if !tables.isEmpty {
            parts.append("the rows of \(tables.map { PrintableText("\($0)") }.joined(separator: ", "))")
        }
        if !externalFiles.isEmpty {
            let size = externalFiles.reduce(0) { $0 + $1.size }
            let count = externalFiles.count
            parts.append("\(count) external file\(count == 1 ? "" : "s") (\(bytes(size)))")
        }
        return parts.joined(separator: "; ")
    }
}
