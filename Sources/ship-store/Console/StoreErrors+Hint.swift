import ShipStore
import StoreFiles
import SystemPackage

extension SnapshotError {
    var hint: PrintableText? {
        switch self {
        case .noSuchFile: "check the path"
        case .folder: "name the SQLite file inside it"
        case .notARegularFile(let path) where ["-journal", "-wal"].contains(where: path.string.hasSuffix):
            "move it away: SQLite keeps a journal or a log there"
        case .notARegularFile: "name a SQLite file"
        case .strangeExternalFile:
            "put the file in its place; if it is lost, remove what is there, and leave it out with --allow-missing-external"
        case .sameExternalFile: "have the app write one of the two anew"
        case .notADatabase: "check the path; an encrypted store must be exported in plain by its app"
        case .unsupportedFormat:
            "an encrypted store must be exported in plain by its app; restore a damaged one from a copy"
        case .severalNames:
            "name the store as its app does; if no program writes to it, copy, send, inspect and verify take --linked"
        case .logOfNothing: "keep its -wal, and restore it from a copy: `ship-store restore` sets both aside"
        case .truncated: "restore it from a copy, or let `sqlite3 STORE .recover` save what is left"
        case .noPermission: "run as a user who may read it"
        case .busy: "try again later, or wait longer with --busy-timeout"
        case .needsApp(.collation): "let the app itself take the copy, with its collations registered"
        case .needsApp(.function): "let the app itself take the copy, with its functions registered"
        case .needsApp(.module): "use a SQLite with that module, or let the app itself take the copy"
        case .writeAheadLogOnReadOnlyMedium:
            "copy the store and its -wal to a folder that can be written, and ship from there"
        case .hotJournal: "open the store once with its app or with sqlite3, then try again"
        case .corrupt:
            "`sqlite3 STORE REINDEX` mends its indexes; else restore it from a copy, or let `sqlite3 STORE .recover` save what is left"
        case .noSpace:
            "free some space on that disk, or keep less free (--keep-free); --temporary-folder moves temporary copies to another disk"
        case .noRoom(_, let limit): limit.hint
        case .missingExternalFile: "put it back, or go on without it with --allow-missing-external"
        case .tooManyExternalFiles: nil
        case .noSuchTable(_, let near): NearNames.question(near) ?? "`ship-store inspect STORE` lists its tables"
        case .tableMustStay(_, let obstacle): obstacle.hint
        case .tableIsTaken: "take a complete copy"
        case .badMetadata: "give others with --meta, or remove some with `ship-store metadata STORE --unset`"
        case .partOfStore: "name another file"
        case .sqlite(let code, _):
            // SQLITE_ERROR: of a statement, and not of the pages.
            code == 1
                ? "see `sqlite3 STORE .schema`: SQLite reads what it would not make anew; let the app mend that"
                : SystemFault.hint(for: code)
        case .cancelled: nil
        case .file(let error): error.hint
        }
    }
}

extension SystemFault {
    /// - Parameter code: SQLite's extended result code.
    fileprivate static func hint(for code: Int32) -> PrintableText? {
        // SQLITE_NOMEM and SQLITE_IOERR, in the low byte.
        switch code & 0xff {
        case 7: "close other programs, and try again: there is no memory left"
        case 10: "look at the disk: the system's log may say more"
        default: nil
        }
    }
}

extension TableObstacle {
    fileprivate var hint: PrintableText? {
        switch self {
        case .isView: "exclude the tables that it reads"
        case .feedsVirtual: "let the app remove the rows from a copy, and ship that"
        case .isVirtual, .isPartOfVirtual, .sqliteNeedsIt, .coreDataNeedsIt: nil
        case .isHistory: "use --strip-history"
        }
    }
}

extension OperationError {
    var hint: PrintableText? {
        switch self {
        case .noSuchStore: "check the path"
        case .noSuchCopy: "name a kept copy's folder, a generation's, or a store"
        case .noCopyTagged(_, let folder): "see `ship-store copies --in \(inShell: folder)`"
        case .notADatabase: "check the path"
        case .folder: "name the SQLite file inside it"
        case .strangeFile: "check the path; with --any-identity it is set aside, and the copy put there"
        case .corrupt(let path, _): "see `ship-store verify \(inShell: path)`"
        case .needsApp: "let the app itself do this, with its collations, functions and modules registered"
        case .unusable: "check the path; --force removes it all the same, with its -wal, -shm and -journal"
        case .notDamaged: "leave --force out"
        case .busy, .folderBusy: "try again later, or wait longer with --busy-timeout"
        case .supportFolderBusy: "try again when it has ended, or wait longer with --busy-timeout"
        case .inUse: "close the app that uses it, then try again, or wait longer with --busy-timeout"
        case .noPermission: "run as a user who may write to it"
        case .occupied: "move it away"
        case .storeInTheWay: "say --replace to give it the content of this one, or move it away"
        case .kept(_, let place, let purpose): place.hint(purpose)
        case .sharedSupportFolder: "choose a name of another stem: one that differs before its extension"
        case .linkedSupportFolder: "put the folder itself in its place"
        case .sidecar: "close whatever has the store open; for a live store use `ship-store restore`"
        case .storeIsSidecar(_, let store):
            "if it is a store, give it another name; if it is a part of \(store), name that"
        case .sameStore: "name two different places"
        case .otherIdentity, .otherSchema: "say --any-identity if that is what you want"
        case .otherTextEncoding:
            "connections that are open cannot follow that: close them, and put the copy in the store's place"
        case .badCopy: "take another"
        case .incompleteCopy: "take a complete copy, or say --incomplete if that is what you want"
        case .damagedCopy: "take another copy; --damaged takes this one all the same"
        case .notVerified: "check the disk"
        case .badTag, .badMetadata: nil
        case .unreadablePropertyList: "open the store once with its app"
        case .tableIsTaken: "rename that table"
        case .damagedOrEncrypted:
            "only its app opens an encrypted store; `ship-store restore` puts a copy in place of a damaged one"
        case .badFileName: "name a file, without a folder, that is not hidden and not one of SQLite's sidecars"
        case .badStoreName: "a name has letters, digits, dots, dashes and underscores"
        case .notCanonical: "make it with `ship-store copy STORE --as NAME.base.sqlite`, and leave it as it is"
        case .noSpace(_, let limit): limit.hint
        case .file(let error): error.hint
        case .sqlite(let code, _): SystemFault.hint(for: code)
        case .stopped: "nothing has changed; start again"
        }
    }
}

extension KeptPlace {
    fileprivate func hint(_ purpose: Purpose) -> PrintableText {
        switch (self, purpose) {
        case (.otherName, _): "remove this name with `rm`, or make a store of its own of it with `ship-store move`"
        case (_, .write): "name another file"
        case (_, .fill): "name another folder"
        case (.depot(let root), _): "see `ship-store list --into \(inShell: root)` for the stores that are there"
        case (.inbox(let root, let store), .destroy), (.inbox(let root, let store), .move):
            "`ship-store forget \(store?.text ?? "NAME") --into \(inShell: root)` removes it with all its generations"
        case (.inbox(let root, let store), .restore), (.inbox(let root, let store), .replace):
            "`ship-store rollback \(store?.text ?? "NAME") --into \(inShell: root)` goes back to an older generation"
        case (.inbox, .setMetadata):
            "set it where the store is sent from, or say `ship-store send --meta KEY=VALUE`"
        case (.keptCopy(let copy), .destroy), (.keptCopy(let copy), .move):
            "`ship-store copies --in \(inShell: copy.removingLastComponent()) --prune` removes kept copies"
        case (.keptCopy(let copy), .restore), (.keptCopy(let copy), .replace):
            "`ship-store restore \(inShell: copy) --over STORE` goes the other way"
        case (.keptCopy(let copy), .setMetadata):
            "`ship-store copy STORE --keep-in \(inShell: copy.removingLastComponent()) --meta KEY=VALUE` keeps another one"
        }
    }
}

extension BaseMemoryError {
    var hint: PrintableText? {
        switch self {
        case .exposed(let path, _): Self.wayOut(by: path)
        case .otherOwner: "set XDG_STATE_HOME to a folder of your own"
        case .notPlain: "remove the folder `bases` that it is, or is in: \(Self.price)"
        case .newerFormat: "update this program, or set XDG_STATE_HOME to another folder"
        case .damaged(let path, _): Self.wayOut(by: path.removingLastComponent())
        case .noRoom: "free some space, or remove copies with `ship-store bases --remove NAME`"
        case .stillThere: "try again once no `send` is at work; if it stays, look at the permissions of its folder"
        case .busy: "try again"
        case .stopped: "start again"
        case .file(let error): error.hint
        }
    }

    /// What it costs to remember nothing.
    private static let price: PrintableText =
        "the next shipments are whole then, and not compared with what went before under their names"

    private static func wayOut(by folder: FilePath) -> PrintableText { "`rm -r \(inShell: folder)`: \(price)" }
}

extension InboxError {
    var hint: PrintableText? {
        switch self {
        case .inboxInUse: "stop that one, or receive into another folder"
        case .occupied: "move it away, or ship under another name with --name"
        case .noSpace: "free some space, or keep less free (--keep-free), then send again"
        case .mismatch(let path), .badManifest(let path, _), .lost(let path): Self.wayOut(ofDamageTo: path)
        case .newerFormat: "update this program"
        case .noInbox(let path): "receive into it first: ship-store receive --into \(path)"
        case .notAFolder: "name the folder that `ship-store receive --into` was given"
        case .inboxRemoved:
            "start the receiver again, with the path where the inbox is now; where none is, it makes one, and senders ship what there is"
        case .insideInbox(_, let root): "name the inbox itself: \(root)"
        case .ofOtherUser: "receive as that user, or into a folder of your own"
        case .openToOthers(let path): "close it with `chmod go-w \(path)`"
        case .noSymbolicLinks:
            "receive into a folder on another disk; `ship-store copy INBOX/NAME.sqlite --to DIR --as NAME.sqlite` puts a plain file there"
        case .readOnly: "make it writable, as with `mount -o remount,rw`, then try again"
        case .noSuchStore(_, let near): NearNames.question(near) ?? "see `ship-store list --into INBOX`"
        case .noSuchGeneration: "see `ship-store list --into INBOX` for those that are kept"
        case .noOlderGeneration:
            "see `ship-store list --into INBOX`; one that was rolled back itself is named with --to"
        case .storeBusy: "try again"
        case .held: "nothing has changed; let the reader go of it, then try again"
        case .otherStore(let name, _):
            "ship this one under a name of its own with `ship-store send --name`, or let it take the place "
                + "of the other with `ship-store receive --into INBOX --replace \(name)`"
        case .hasGenerations(let name, _):
            "nothing has changed, and shipments go on; `ship-store forget \(name) --into INBOX` removes what is there"
        case .onHold(let name, _):
            "release it with `ship-store rollback \(name) --into INBOX --release`, or go forward with --to"
        case .rolledBack(let name, _):
            "allow it again with `ship-store rollback \(name) --into INBOX --allow-again`, or go forward with --to"
        case .badRecord(let path, _) where path.lastComponent?.text.hasPrefix(".") == true:
            "remove it: it is written anew when there is something to note"
        case .badRecord: "start it anew with `ship-store rollback NAME --into INBOX --allow-again`"
        case .badOrigin:
            "restore it, or `ship-store forget` the store and have it sent anew: without it old shipments are taken as new ones"
        case .outOfSequence(let name, let flaw): flaw.hint(name)
        case .file(let error): error.hint
        }
    }

    /// For a damaged generation there is a rollback, too. A damaged file of a shipment can only be sent again.
    private static func wayOut(ofDamageTo path: FilePath) -> PrintableText {
        let names = path.components.map(\.text)
        guard let generations = names.lastIndex(of: "generations"), generations > 1,
            names[generations - 2] == ".ship-store"
        else { return "send it again" }
        let root = FilePath(root: path.root, path.components.prefix(generations - 2))
        let inbox = root.isEmpty ? "." : root
        let store: PrintableText = "\(names[generations - 1]) --into \(inShell: inbox)"
        return "send it again, or go to another generation with `ship-store rollback \(store) --to N`: "
            + "`ship-store verify \(inShell: inbox)` tells which are sound. `ship-store receive --into \(inShell: inbox) --from PUBLICATION`, started anew, brings the newest one"
    }
}

extension SequenceFlaw {
    fileprivate func hint(_ name: StoreName) -> PrintableText? {
        switch self {
        case .replayed:
            "have it sent anew; if its device has lost count, say `ship-store trust ID --takes-over \(name)`"
        case .overtaken: "what is newer is here; to wait until the relay has caught up, say --follow"
        case .tooFarAhead: "if its device is sound all the same, say `ship-store trust ID --takes-over \(name)`"
        case .older: "have it sent anew; if it is to take the store back, say `receive --replace \(name)`"
        case .noCounter: "send it from the device that sent those; `receive --unsigned` takes it all the same"
        case .notCounted: "update the program that sends it, then send it again"
        case .noDevice:
            "send it signed, in a file or by way of a publication, or from that device over a network; `receive --unsigned` takes it all the same"
        case .otherDevice: "if this one is to send it from now on, say `ship-store trust ID --takes-over \(name)`"
        }
    }
}

extension StoreCheck.Flaw {
    var hint: PrintableText? {
        switch self {
        case .header: "nothing was installed; send it with `ship-store send`, which makes such a copy"
        case .unsound:
            "`sqlite3 STORE REINDEX` mends indexes; of a store that came in, look into the sender's with `ship-store verify STORE`"
        case .contradictsManifest:
            "nothing was installed; whoever sent it says what is not so, or has an older program: update it"
        case .tookTooLong: "if its sender is to be trusted with that much time, give more with --check-seconds"
        case .tookTooMuchMemory: "if its sender is to be trusted with that much memory, give more with --check-memory"
        case .unreadable: "look into the sender's store with `ship-store verify STORE` there"
        case .checkerNotStarted:
            "see whether this program may be run, and whether there is memory left, then send again"
        case .checkerSignalled, .checkerExited, .checkerSaidNonsense:
            "the store may be made to break its reader: do not open it, and find out who made it"
        case .file(let error): error.hint
        }
    }
}

extension CoordinatorError {
    var hint: PrintableText? {
        switch self {
        case .noSuchStore, .noSuchIndex: "see `ship-store list --into INBOX`"
        case .notOneStore(0): "receive one first"
        case .notOneStore: "name one; see `ship-store list --into INBOX`"
        case .sameName: "give one of them another name"
        case .inWALMode: "open it as a live store"
        case .hasSidecar: "open it as a live store, or open a compact copy of it"
        case .notAFile: nil
        case .hasNoGenerations: "take a copy of it instead"
        case .hasNoFile: "roll it back, or ship it anew; restore the store that it was shipped from"
        case .generationLocked: "try again"
        case .tooOld(_, let age, _) where age.isConnected:
            "the source is asked, or a newer copy is on its way: wait longer, or see `ship-store status`, if its shipments fail"
        case .tooOld: "no sender is connected that follows it, or it is held: see `ship-store status --into INBOX`"
        case .released: nil
        case .suspended: "resume the coordinator, then read again"
        case .generationGone: "pin the generation that is current now"
        case .noExternalFile, .externalFileLeftOut, .externalFileMissingAtProducer: nil
        case .inbox(let error): error.hint
        case .file(let error): error.hint
        }
    }
}
