import ShipStore
import SystemPackage

/// One change, as `watch` tells it.
struct ChangeLine: Encodable {
    let event: String
    let time = EventTime()
    let name: String
    /// The one that is current now.
    var generation: Int?
    var sha256: String?
    /// The one that was told before.
    var from: Int?
    var isStepBack: Bool?
    var hasSchemaChanged: Bool?
    /// Left out where a manifest does not say what is in its tables.
    var tables: [Table]?
    var externalFiles: Files?
    var metadata: [String: Value]?
    var error: String?
    /// The store's file, absolute: that of the generation that is told, or else the public name.
    let path: String

    struct Table: Encodable {
        let name: ForeignText
        let rowsBefore: Int64?
        let rowsAfter: Int64?
    }

    /// By their paths in the support folder.
    struct Files: Encodable {
        let added: [String]
        let removed: [String]
        let replaced: [String]
    }

    struct Value: Encodable {
        let before: ForeignText?
        let after: ForeignText?
    }

    /// What is current as the watch begins.
    init(_ current: StoreChange.Current) {
        event = "current"
        name = current.store.text
        generation = current.generation.number
        sha256 = current.generation.sha256.hex
        path = current.generation.storePath.string
    }

    init(_ change: StoreChange, in inbox: Inbox) {
        name = change.store.text
        if case .generation(let change) = change {
            path = change.to.storePath.string
        } else {
            path = inbox.root.appending("\(change.store).sqlite").string
        }
        switch change {
        case .generation(let change):
            event = "changed"
            generation = change.to.number
            sha256 = change.to.sha256.hex
            from = change.from?.number
            isStepBack = change.isStepBack
            tell(change.difference)
        case .removed: event = "removed"
        case .rewritten: event = "rewritten"
        case .unreadable(_, let number, let reason):
            event = "unreadable"
            generation = number
            error = ShipmentError.install(reason).explanation.cause
        }
    }

    private mutating func tell(_ difference: GenerationDifference) {
        hasSchemaChanged = difference.hasSchemaChanged
        tables = difference.tables?.map { Table(name: $0.name, rowsBefore: $0.rowsBefore, rowsAfter: $0.rowsAfter) }
        let files = difference.externalFiles
        externalFiles = Files(
            added: files.added.map(\.relativePath), removed: files.removed.map(\.relativePath),
            replaced: files.replaced.map(\.relativePath))
        metadata = difference.metadata.mapValues { Value(before: $0.before, after: $0.after) }
    }
}

extension ChangeLine {
    /// The same without its lists, which may be too long for an environment.
    var withoutLists: ChangeLine {
        var line = self
        line.tables = nil
        line.externalFiles = nil
        line.metadata = nil
        return line
    }

    /// In words: `Recipes  7 (was 6)  recipe 120 to 124 rows, tag changed  2 external files added`
    var text: PrintableText {
        switch event {
        case "current": return "\(name)  \(generation ?? 0)  current"
        case "removed": return "\(name)  removed"
        case "rewritten": return "\(name)  rewritten"
        case "unreadable": return "\(name)  \(generation ?? 0)  unreadable: \(error ?? "")"
        default: break
        }
        let was: PrintableText = from.map { isStepBack == true ? " (back from \($0))" : " (was \($0))" } ?? " (new)"
        var parts: [PrintableText] = ["\(name)  \(generation ?? 0)\(was)"]
        if let tables, !tables.isEmpty { parts.append(tables.map(\.text).joined(separator: ", ")) }
        if let files = externalFiles, !files.text.isEmpty { parts.append("\(files.text)") }
        if let metadata, !metadata.isEmpty {
            let pairs = metadata.sorted { $0.key < $1.key }.map { key, value -> PrintableText in
                value.after.map { "\(key)=\($0)" } ?? "\(key) gone"
            }
            parts.append(pairs.joined(separator: ", "))
        }
        return parts.joined(separator: "  ")
    }
}

extension ChangeLine.Table {
    fileprivate var text: PrintableText {
        switch (rowsBefore, rowsAfter) {
        case (nil, let after): "\(name) new, \(after ?? 0) rows"
        case (_, nil): "\(name) gone"
        case (let before?, let after?): before == after ? "\(name) changed" : "\(name) \(before) to \(after) rows"
        }
    }
}

extension ChangeLine.Files {
    fileprivate var text: String {
        [("added", added), ("removed", removed), ("replaced", replaced)].filter { !$0.1.isEmpty }
            .map { "\($0.1.count) external \($0.1.count == 1 ? "file" : "files") \($0.0)" }.joined(separator: ", ")
    }
}
