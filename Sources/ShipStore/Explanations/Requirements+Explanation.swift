import ShipProtocol
import StoreFiles
import SystemPackage

extension StoreRequirements.Objection {
    var explanation: Explanation {
        switch self {
        case .noModel:
            Explanation(
                "the store is no Core Data store, or does not say what its entities are",
                hint: "receive without --model what Core Data has not made")
        case .otherModel(let difference, let nearest):
            Explanation(
                "the store's model is not \(nearest): \(difference.words)",
                hint: "update the reader, and name its new model with --model")
        case .otherSchema(let digest):
            Explanation(
                "the store's schema has the digest \(digest.hex), which is not among those required",
                hint: "update the reader, and name that digest too with --schema-digest")
        case .otherUserVersion(let version, let required):
            Explanation(
                "the store's user_version is \(version), not \(required.words)",
                hint: "update the reader, and say what it takes with --user-version")
        }
    }
}

extension ShipmentBudget.Excess {
    var explanation: Explanation {
        switch self {
        case .storeSize(let size, let allowed):
            Explanation(
                "the store has \(size) bytes; at most \(allowed) are allowed", hint: "allow more with --max-store")
        case .externalFileCount(let count, let allowed):
            Explanation(
                "the store has \(count) external files; at most \(allowed) are allowed",
                hint: "allow more with --max-external-files")
        case .externalFilesSize(let size, let allowed):
            Explanation(
                "the store's external files have \(size) bytes; at most \(allowed) are allowed",
                hint: "allow more with --max-external")
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

extension ModelFileError {
    var explanation: Explanation {
        switch self {
        case .notThere(let path):
            Explanation(
                "there is no model at \(path)", hint: "name a .momd, its VersionInfo.plist, or a JSON of entity hashes")
        case .notARegularFile(let path):
            Explanation("\(path) is neither a file nor a folder", hint: "name the model itself, not a link to it")
        case .tooLarge(let path, let limit):
            Explanation("\(path) is larger than \(limit) bytes: that is no model", hint: "check the path")
        case .unreadable(let path, let flaw):
            Explanation("\(path) cannot be read as a model: \(flaw.words)", hint: flaw.hint)
        case .file(let error): error.explanation
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

    fileprivate var hint: PrintableText {
        switch self {
        case .noVersions: "name the .momd folder or its VersionInfo.plist, not a .mom"
        case .noPropertyList, .noJSONOfHashes, .entityCount, .badHash:
            "name a .momd, its VersionInfo.plist, or a JSON of entity hashes"
        }
    }
}
