import ShipProtocol
import StoreFiles
import StoreOperations
import SystemPackage

extension OperationError {
    var explanation: Explanation {
        switch self {
        case .noSuchStore(let path):
            Explanation("there is no store at \(path)", hint: "check the path")
        case .noSuchCopy(let path):
            Explanation("there is no copy at \(path)", hint: "name a kept copy's folder, a generation's, or a store")
        case .noCopyTagged(let tag, let folder):
            Explanation("no copy in \(folder) has the tag \(tag)", hint: "see `ship-store copies --in \(folder)`")
        case .notADatabase(let path):
            Explanation("\(path) is not a SQLite database, or it is encrypted", hint: "check the path")
        case .strangeFile(let path):
            Explanation(
                "\(path) is not a SQLite database, and nothing says that it was one",
                hint: "check the path; with --any-identity it is set aside, and the copy put there")
        case .corrupt(let path, let complaint):
            Explanation("\(path) is damaged: \(complaint)", hint: "see `ship-store verify \(path)`")
        case .unusable(let words):
            Explanation(
                "\(words)",
                hint: "check the path; --force removes it all the same, with its -wal, -shm and -journal")
        case .notDamaged(let path):
            Explanation("\(path) is not damaged", hint: "leave --force out")
        case .busy(let path, let waited):
            Explanation(
                "\(path) is locked by another program, and stayed so for \(waited)",
                hint: "try again later, or wait longer with --busy-timeout")
        case .folderBusy(let folder, let waited):
            Explanation(
                "another program has been changing which copies are in \(folder) for \(waited)",
                hint: "try again later, or wait longer with --busy-timeout")
        case .supportFolderBusy(let folder, let waited):
            Explanation(
                "another command has been changing the external files in \(folder) for \(waited)",
                hint: "try again when it has ended, or wait longer with --busy-timeout")
        case .inUse(let path, let waited):
            Explanation(
                "another program has \(path) open, and kept it so for \(waited)",
                hint: "close the app that uses it, then try again, or wait longer with --busy-timeout")
        case .noPermission(let path):
            Explanation("no permission to write to \(path)", hint: "run as a user who may write to it")
        case .occupied(let path):
            Explanation("\(path) is in the way: it is something else than an older copy", hint: "move it away")
        case .storeInTheWay(let path):
            Explanation(
                "there is a store at \(path) already",
                hint: "say --replace to give it the content of this one, or move it away")
        case .kept(let path, let place, let purpose): Self.explanation(of: path, place, purpose)
        case .sharedSupportFolder(let folder, let store):
            Explanation(
                "\(folder) is the folder of external files of \(store)",
                hint: "choose a name of another stem: one that differs before its extension")
        case .linkedSupportFolder(let path):
            Explanation(
                "\(path) is a symbolic link: what it leads to may be another store's, and no external files are put there",
                hint: "put the folder itself in its place")
        case .sidecar(let path):
            Explanation(
                "\(path) is in the way: SQLite would take it for a part of the new store",
                hint: "close whatever has the store open; for a live store use `ship-store restore`")
        case .storeIsSidecar(let path, let store):
            Explanation(
                "\(path) is a store, and SQLite would take it for a part of \(store)", hint: "give it another name")
        case .sameStore(let path): Explanation("\(path) is named twice", hint: "name two different places")
        case .otherIdentity(let path, let identity, let copyIdentity):
            Explanation(
                "the copy is one of another store than \(path): \(Self.text(copyIdentity)), not \(Self.text(identity))",
                hint: "say --any-identity if that is what you want")
        case .otherSchema(let path):
            Explanation(
                "the copy may be one of another store than \(path): neither has an identity, and their tables differ",
                hint: "say --any-identity if that is what you want")
        case .otherTextEncoding(let path, let encoding, let copyEncoding):
            Explanation(
                "the copy's texts are in \(copyEncoding.rawValue), those of \(path) in \(encoding.rawValue)",
                hint: "connections that are open cannot follow that: close them, and put the copy in the store's place")
        case .badCopy(let error): Explanation("the copy is not whole: \(error.explanation.cause)", hint: "take another")
        case .incompleteCopy(let path, let omissions):
            Explanation(
                "\(path) came without \(omissions.words()), which the store would lose too",
                hint: "take a complete copy, or say --incomplete if that is what you want")
        case .notVerified(let path):
            Explanation("what was written to \(path) reads back as something else", hint: "check the disk")
        case .badTag(let tag):
            Explanation("\(tag) is no tag: 1 to 60 letters, digits, dots, dashes and underscores")
        case .badMetadata(let flaw): Explanation("there is \(flaw)")
        case .badFileName(let name):
            Explanation(
                "\(name) is no name for a copy",
                hint: "name a file, without a folder, that is not hidden and not one of SQLite's sidecars")
        case .noSpace(let folder):
            Explanation("there is no space left on the disk of \(folder)", hint: "free some space, then try again")
        case .file(let error): error.explanation
        case .sqlite(let code, let message): Explanation("SQLite says: \(message) (code \(code))")
        case .stopped: Explanation("stopped before it was done", hint: "nothing has changed; start again")
        }
    }

    private static func explanation(
        of path: FilePath, _ place: KeptPlace, _ purpose: KeptPlace.Purpose
    ) -> Explanation {
        switch place {
        case .inbox(let root, let name):
            let name = name.map(\.text) ?? "NAME"
            let hint: PrintableText =
                switch purpose {
                case .destroy, .move:
                    "`ship-store forget \(name) --into \(root)` removes it with all its generations"
                case .restore, .replace:
                    "`ship-store rollback \(name) --into \(root)` goes back to an older generation"
                case .setMetadata: "set it where the store is sent from, or say `ship-store send --meta KEY=VALUE`"
                }
            return Explanation("\(path) is a generation of the inbox \(root), and never changes", hint: hint)
        case .keptCopy(let copy):
            let folder = copy.removingLastComponent()
            let hint: PrintableText =
                switch purpose {
                case .destroy, .move: "`ship-store copies --in \(folder) --prune` removes kept copies"
                case .restore, .replace: "`ship-store restore \(copy) --over STORE` goes the other way"
                case .setMetadata: "`ship-store copy STORE --keep-in \(folder) --meta KEY=VALUE` keeps another one"
                }
            return Explanation("\(path) is a kept copy, and never changes", hint: hint)
        case .otherName:
            return Explanation(
                "\(path) is read-only and has another name too, as a generation or a kept copy has that is linked to",
                hint: "remove this name with `rm`, or make a store of its own of it with `ship-store move`")
        }
    }

    private static func text(_ identity: ForeignText?) -> ForeignText {
        identity ?? "no identity"
    }
}
