public import ShipProtocol
public import StoreFiles
public import StoreServing
import SystemPackage

extension ShipmentError: ExplainedError {
    /// The words are here, not on the command line, because a refusal carries them to the other side.
    public var cause: PrintableText {
        switch self {
        case .source(let error): error.cause
        case .link(let error): error.cause
        case .protocolBroken(let error): error.cause
        case .badFile(let error): error.causeOfFile
        case .compression(let error): error.cause
        case .badStore(let flaw): flaw.cause
        case .tooMuch(let excess): excess.cause
        case .unwelcome(let objection): objection.cause
        case .probe(let failure): failure.cause
        case .model(let error): error.cause
        case .install(let error): error.cause
        case .serving(let error): error.cause
        case .file(let error): error.cause
        case .operation(let error): error.cause
        case .report(let error): error.cause
        case .unfinished(let error, _): error.cause
        case .memory(let error): error.cause
        case .notRemembered(let name): "nothing is remembered of \(name)"
        case .identity(let error): error.cause
        case .trustList(let error): error.cause
        case .pairing(let error): error.cause
        case .noReceiver: "no device is trusted as a receiver, so nobody may come for a store"
        case .nothingToShip: "there is no store to ship"
        case .noStoreYet: "no store has come into the inbox yet"
        case .noStoreFor(let id): "the device at the other end may have none of these stores (its id is \(id))"
        case .noSuchPeer(let text, _): "no device of that id or name is trusted: \(text)"
        case .unknownSent(let name, let error):
            "nothing says whether another store was sent as \(name) before: \(error.cause)"
        case .otherSent(let name, let path): "another store was sent as \(name) before, there or into a file: \(path)"
        case .sameName(let name): "two of the stores would be shipped as \(name)"
        case .overdue(let overdue): overdue.cause
        case .refused(let reason) where reason.knownCode == .stopped: "the receiver was stopped"
        case .refused(let reason): "the receiver refused the shipment: \(reason.words)"
        case .givenUp(let reason): "the sender gave up: \(reason.words)"
        case .notAllowed(let name, .sender): "the sender may not send \(name) here"
        case .notAllowed(let name, .receiver): "the receiver may not be sent \(name)"
        case .notAllowed(let name, .relay): "the device at the other end may not pass on \(name) here"
        case .notSigned(let name, let number):
            "generation \(number) of \(name) came without a signature of the device that made it, and others take it only with one"
        case .takesNoRelay: "the receiver takes no shipments of other devices than the one that it is connected to"
        case .signature(let error): error.cause
        case .unsigned(let name, let isOnStandardInput):
            "nobody has signed this shipment of \(name), and files are taken only from trusted devices"
                + (isOnStandardInput ? "; the standard input is a file" : "")
        case .unknownSigner(let id): "the device that signed this shipment is not trusted to send (its id is \(id))"
        case .missingBase(let name, let digest):
            "the shipment says what differs from a copy of \(name) that is not here, or came from another sender: "
                + "its SHA-256 is \(digest)"
        case .notWhole(let path, let name, let base):
            "\(path) says what differs from another copy of \(name), and is nothing without it: its SHA-256 is \(base)"
        case .earlier(let path, let error): "in the earlier shipment \(path): \(error.cause)"
        case .badHoldings(let path, let flaw): "\(path) does not say what a receiver holds: \(flaw)"
        case .publication(let error): error.cause
        case .cannotAnswer: "the sender awaits an answer, and there is no way back on this link"
        case .stopped: "stopped before it was done"
        case .sqlite(let message): "SQLite cannot open what was installed: \(message)"
        case .unforeseen(let error): "something happened that nobody has thought of: \(error)"
        }
    }
}

extension Reason {
    /// The other side's words, or at least its code.
    fileprivate var words: ForeignText { message.unescaped.isEmpty ? code : message }
}

extension Overdue {
    var cause: PrintableText {
        switch self {
        case .manifest(let limit): "the sender is still preparing the store after \(limit.inRoundSeconds) s"
        case .answer(let limit):
            "the receiver has not said for \(limit.inRoundSeconds) s whether it takes the shipment"
        case .comparison(let limit):
            "the receiver has not said for \(limit.inRoundSeconds) s what its copy has in common with the store"
        case .receipt(let limit):
            "the receiver has had everything for \(limit.inRoundSeconds) s, and has not installed it"
        }
    }
}

extension Duration {
    fileprivate var inRoundSeconds: Int64 { Int64((self / .seconds(1)).rounded()) }
}

extension FileError: ExplainedError {
    public var cause: PrintableText { roomLimit.map { $0.cause(in: path.userFolder) } ?? "\(self)" }
}

extension RoomLimit {
    func cause(in folder: FilePath) -> PrintableText {
        switch self {
        case .disk: "there is no space left on the disk of \(folder)"
        case .fileCount: "the disk of \(folder) can hold no more files, though it has bytes left"
        case .quota: "the disk quota of this user is used up in \(folder)"
        case .fileSize(let most?):
            "a file in \(folder) would have more than the \(most) bytes that this process may write to one"
        case .fileSize(nil): "the file system of \(folder) takes no file of that size"
        }
    }
}

extension StoreRequirements.Objection: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .noModel: "the store is no Core Data store, or does not say what its entities are"
        case .otherModel(let difference, let nearest): "the store's model is not \(nearest): \(difference.words)"
        case .otherSchema(let digest):
            "the store's schema has the digest \(digest.hex), which is not among those required"
        case .otherUserVersion(let version, let required):
            "the store's user_version is \(version), not \(required.words)"
        }
    }
}

extension ShipmentBudget.Excess: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .storeSize(let size, let allowed): "the store has \(size) bytes; at most \(allowed) are allowed"
        case .externalFileCount(let count, let allowed):
            "the store has \(count) external files; at most \(allowed) are allowed"
        case .externalFilesSize(let size, let allowed):
            "the store's external files have \(size) bytes; at most \(allowed) are allowed"
        case .storesOfDevice(let allowed):
            "the store would be one more of this device, and at most \(allowed) are allowed of one"
        }
    }
}

extension ClosedRange<Int32> {
    fileprivate var words: PrintableText {
        count == 1 ? "\(lowerBound)" : "\(lowerBound) to \(upperBound)"
    }
}

extension ModelDifference {
    /// How many entities of a kind are named; the others are counted.
    private static let namesShown = 5

    /// `added Tag; removed Author; changed Photo, Recipe and 7 more`
    fileprivate var words: PrintableText {
        [("added", added), ("removed", removed), ("changed", changed)].filter { !$0.1.isEmpty }
            .map { PrintableText("\($0.0) \(Self.list($0.1))") }.joined(separator: "; ")
    }

    private static func list(_ entities: [ForeignText]) -> PrintableText {
        let names = entities.prefix(namesShown).map { PrintableText("\($0)") }.joined(separator: ", ")
        return entities.count > namesShown ? "\(names) and \(entities.count - namesShown) more" : names
    }
}

extension ModelFileError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .notThere(let path): "there is no model at \(path)"
        case .notARegularFile(let path): "\(path) is neither a file nor a folder"
        case .tooLarge(let path, let limit): "\(path) is larger than \(limit) bytes: that is no model"
        case .unreadable(let path, let flaw): "\(path) cannot be read as a model: \(flaw.words)"
        case .file(let error): error.cause
        }
    }
}

extension ModelFileError.Flaw {
    fileprivate var words: PrintableText {
        switch self {
        case .noPropertyList: "it is neither a property list nor JSON"
        case .noVersions: "it has no NSManagedObjectModel_VersionHashes"
        case .noJSONOfHashes: "it is no JSON object of entity names and their hashes in base64"
        case .entityCount(let count): "a model has 1 to \(Limits.entities) entities, not \(count)"
        case .badHash(let entity): "the hash of \(entity) is not 32 bytes"
        }
    }
}

extension FailedProbe: ExplainedError {
    public var cause: PrintableText {
        "the probe `\(Self.shortened(probe.sql))` \(reason.words)"
    }

    /// Longest probe that is told whole, in characters: a refusal has room for what comes after it too.
    private static let longestText = 400

    private static func shortened(_ sql: String) -> PrintableText {
        let text = sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return text.count <= longestText ? "\(text)" : "\(text.prefix(longestText))..."
    }
}

extension FailedProbe.Reason {
    /// In characters.
    private static let longestValue = 60

    fileprivate var words: PrintableText {
        switch self {
        case .noRow: "gave no row"
        case .isNull: "gave NULL"
        case .isZero(let value): "gave \(value.unescaped.prefix(Self.longestValue)), which is not true"
        case .tookTooLong(let limit): "took longer than \(limit)"
        case .failed(let message): "failed: \(message)"
        }
    }
}
