import ShipStore
import StoreFiles
import SystemPackage

extension ShipmentError {
    /// The next thing to do, if there is one: fit for a terminal.
    var hint: PrintableText? {
        switch self {
        case .source(let error): error.hint
        case .link(let error): error.hint
        case .protocolBroken(let error): error.hint
        case .badFile(let error): error.hintOfFile
        case .compression(let error): error.hint
        case .badStore(let flaw): flaw.hint
        case .tooMuch(let excess): excess.hint
        case .unwelcome(let objection): objection.hint
        case .probe(let failure): failure.hint
        case .model(let error): error.hint
        case .install(let error): error.hint
        case .serving(let error): error.hint
        case .file(let error): error.hint
        case .operation(let error): error.hint
        case .report(let error): error.hint
        case .unfinished(let error, let leftovers): Self.hint(error.hint, telling: leftovers)
        case .memory(let error): error.hint
        case .notRemembered: "see `ship-store bases`"
        case .identity(let error): error.hint
        case .trustList(let error): error.hint
        case .pairing(let error): error.hint
        case .noReceiver:
            "let one pair, with --pair; or trust it by its id: ship-store trust ID --role receiver; or serve programs of this "
                + "machine alone, with --insecure"
        case .noStoreFor(let id): "`ship-store trust \(id) --role receiver --store NAME` lets it have one"
        case .nothingToShip: "name one at least"
        case .noStoreYet: "start again when `ship-store receive` has brought one"
        case .noSuchPeer(_, let near):
            NearNames.question(near) ?? "see `ship-store peers`; an id has 65 letters and digits"
        case .unknownSent(_, let error):
            "say --replace if it is this store's name"
                + (error.hint.map { "; \($0)" } ?? "")
        case .otherSent: "send it under another name with --name, or let it take the other's place with --replace"
        case .sameName: "send them one by one, with --name"
        case .overdue(let overdue): overdue.hint
        case .refused(let reason): reason.hint
        case .givenUp(let reason) where reason.knownCode == .notTrusted:
            "ask the operator there to say `ship-store trust ID --role receiver --store NAME`"
        case .givenUp: "send again what has not arrived"
        case .notAllowed(let name, let role): "`ship-store trust ID --role \(role.rawValue) --store \(name)` lets it"
        case .notSigned(let name, _):
            "ask for one here with `ship-store receive --relay`, of a sender with `ship-store send --relay`: the next change has it, "
                + "or what comes after `ship-store forget \(name) --into INBOX`"
        case .takesNoRelay: "install a newer ship-store there"
        case .signature(let error): error.hint
        case .unsigned: "make it anew with `ship-store send --to FILE --sign`; --unsigned takes it all the same"
        case .unknownSigner(let id):
            "if it is the one that you mean, say `ship-store trust \(id) --role sender`; --unsigned takes it all the same"
        case .missingBase:
            "say here `ship-store holdings --into INBOX > FILE`, with --for SENDER if it signs, and there "
                + "`ship-store send STORE --for FILE --to SHIPMENT`, or leave --for and --since out"
        case .notWhole:
            "a receiver that holds that copy takes it: `ship-store receive --into INBOX --from FILE`; what is "
                + "to be looked at, or to be given with --since, has to be sent without --for and --since"
        case .earlier(_, .badStore):
            "leave --since out: a receiver that has that store refuses it too, and takes all of the new one"
        case .earlier(_, let error): error.hint
        case .badHoldings: "have it written by `ship-store holdings --into INBOX > FILE` at the receiver"
        case .publication(let error): error.hint
        case .cannotAnswer:
            "keep shipments with `send --to FILE`, which awaits none; without --json `receive --from -` answers"
        case .stopped: "nothing has changed; start again"
        case .sqlite: nil
        case .unforeseen: "please report it"
        }
    }

    private static func hint(_ hint: PrintableText?, telling leftovers: Leftovers) -> PrintableText {
        var parts: [String] = []
        if let copy = leftovers.safetyCopy { parts.append("the copy \(copy)") }
        if let first = leftovers.externalFiles.first {
            let count = leftovers.externalFiles.count
            let folder = first.removingLastComponent().removingLastComponent()
            parts.append("\(count) new external file\(count == 1 ? "" : "s") in \(folder)")
        }
        let words: PrintableText =
            "left behind: \(parts.joined(separator: " and ")), which the next restore uses or removes"
        return hint.map { "\($0) (\(words))" } ?? words
    }
}

extension Reason {
    /// The remedy for a refusal of the other side, where there is something that this side can do.
    fileprivate var hint: PrintableText? {
        switch knownCode {
        case .wrongModel: "update the reader there, or send a store of the model that it knows"
        case .wrongSchema: "update the reader there, or send a store of a schema that it knows"
        case .probeFailed: "the store there stays as it was; look into this one with `ship-store inspect`"
        case .held: "ask the operator there to say `ship-store rollback NAME --into INBOX --release`"
        case .rolledBack:
            "send another state of the store, or ask the operator there to say "
                + "`ship-store rollback NAME --into INBOX --allow-again`"
        case .otherStore:
            "send it under another name with --name, or ask the operator there to say "
                + "`ship-store receive --into INBOX --replace NAME`"
        case .tooLarge:
            "ask the operator there to allow more (`ship-store receive --help`), or leave something out: "
                + "`ship-store send --help`"
        case .notTrusted:
            "ask the operator there to say `ship-store trust ID --role sender --store NAME`, with --role relay if it is passed on, "
                + "or --takes-over NAME if another device sent it before; on one machine, `ship-store receive --into INBOX --unsigned` takes it"
        case .replayed:
            "send it again, or receive the newest first if it is passed on; if the device that made it has lost count, ask the operator "
                + "there to say `ship-store trust ID --takes-over NAME`"
        case .missingBase: "send it whole: without --for and --since"
        case .badStore: "look into the store with `ship-store verify STORE`"
        case .noSpace: "free some space there, then send it again"
        case .stopped: "try again later"
        case .versionNotSupported, .unknownFrame, .protocolViolation, .featureNotSupported, .damaged, .badManifest,
            .badSignature, .cannotInstall, .busy, .timedOut, nil:
            nil
        }
    }
}

extension Overdue {
    var hint: PrintableText? {
        switch self {
        case .manifest: "look at the sender; a receiver may wait longer with --prepare-timeout"
        case .answer:
            "look at the receiver: another shipment of the store may be on its way; --work-timeout waits longer"
        case .comparison: "look at the receiver; --work-timeout waits longer, and --plain compares nothing"
        case .receipt: "look at the receiver, and whether it has installed it meanwhile; --work-timeout waits longer"
        }
    }
}

extension FileError {
    var hint: PrintableText? {
        if let roomLimit { return roomLimit.hint }
        if operation == .makeFolderIn, path == TemporaryFolder.variablePlace {
            return "TMPDIR says so: set it to a folder that is there, and in which you may write"
        }
        switch errno {
        case .noSuchFileOrDirectory:
            if operation == .makeFolderIn { return "make it first, or choose another path" }
            return operation == .makeFolder ? "make the folder above it first" : "check the path"
        case .notDirectory:
            if let obstacle { return "move \(obstacle) away: it is no folder, and the inbox keeps one there" }
            return "a part of the path is a file, not a folder: choose another path"
        case .badFileDescriptor where path.starts(with: "/dev"): return "it is closed: pipe it, or name a file"
        case .invalidArgument where operation == .open: return "it is no plain file: move it away"
        case .isDirectory where path.components.contains(FilePath.depot):
            return "move \(path) away: it is a folder, and the inbox keeps a file there"
        case .isDirectory: return "name a file, not a folder"
        case .permissionDenied, .notPermitted: return "run as a user who may do that, or choose another path"
        case .readOnlyFileSystem: return "choose a place that can be written to"
        case .fileExists: return "something of that name is there: choose another, or move it away"
        case .tooManySymbolicLinkLevels: return "there is a symbolic link where none is followed: name what it leads to"
        case .fileNameTooLong: return "choose a shorter name"
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
            return "close other programs, or raise the limit (`ulimit -n`)"
        case .ioError: return "look at the disk: the system's log may say more"
        default: return nil
        }
    }

    /// What is in the way of a folder of an inbox; `nil` elsewhere.
    private var obstacle: FilePath? {
        guard path.components.contains(FilePath.depot) else { return nil }
        var path = self.path
        while !path.isEmpty {
            if let status = try? PlatformCalls.status(of: path) { return status.kind == .folder ? nil : path }
            path.removeLastComponent()
        }
        return nil
    }
}

extension RoomLimit {
    var hint: PrintableText {
        switch self {
        case .disk: "free some space, then try again"
        case .fileCount: "remove files that are not needed, however small, or choose another disk"
        case .quota: "remove files of this user, or have the quota raised"
        case .fileSize(_?): "raise the limit (`ulimit -f`)"
        case .fileSize(nil): "choose a disk with another file system: FAT takes files of up to 4 GiB"
        }
    }
}

extension StoreRequirements.Objection {
    var hint: PrintableText? {
        switch self {
        case .noModel: "receive without --model what Core Data has not made"
        case .otherModel: "update the reader, and name its new model with --model"
        case .otherSchema: "update the reader, and name that digest too with --schema-digest"
        case .otherUserVersion: "update the reader, and say what it takes with --user-version"
        }
    }
}

extension ShipmentBudget.Excess {
    var hint: PrintableText? {
        switch self {
        case .storeSize: "allow more with --max-store"
        case .externalFileCount: "allow more with --max-external-files"
        case .externalFilesSize: "allow more with --max-external"
        case .storesOfDevice:
            "allow more with --max-stores-per-device, or remove one: `ship-store forget NAME --into DIR`"
        }
    }
}

extension ModelFileError {
    var hint: PrintableText? {
        switch self {
        case .notThere: "name a .momd, its VersionInfo.plist, or a JSON of entity hashes"
        case .notARegularFile: "name the model itself, not a link to it"
        case .tooLarge: "check the path"
        case .unreadable(_, let flaw): flaw.hint
        case .file(let error): error.hint
        }
    }
}

extension ModelFileError.Flaw {
    fileprivate var hint: PrintableText {
        switch self {
        case .noVersions: "name the .momd folder or its VersionInfo.plist, not a .mom"
        case .noPropertyList, .noJSONOfHashes, .entityCount, .badHash:
            "name a .momd, its VersionInfo.plist, or a JSON of entity hashes"
        }
    }
}

extension FailedProbe {
    fileprivate var hint: PrintableText {
        "what was current stays; look into the store with `ship-store inspect`, or drop the probe"
    }
}

extension ReportError {
    fileprivate var hint: PrintableText {
        switch self {
        case .partOfSubject: "name another file"
        case .inTheWay: "name another file, or say --force to replace this one, if it is a file"
        }
    }
}
