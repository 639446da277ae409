import ArgumentParser
import ShipStore
import SystemPackage

struct MetadataCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metadata",
        abstract: "Show what a store says of itself, and set what travels with its copies.",
        usage: "ship-store metadata <store> [--set <key=value>] [--unset <key>] [<options>]",
        discussion: """
            Reading changes nothing: identity, the model's version hashes, SQLite's figures, the newest transaction of \
            the history, and the user's own pairs.

            --set and --unset write to the store, in one transaction. The pairs go into the metadata of a Core Data store, where an app \
            that has the store open may overwrite them with its own next change of metadata, or into a table ship_store_metadata, which is \
            made for them. They travel with every copy and shipment; --meta of send wins over them.

              ship-store metadata Recipes.sqlite
              ship-store metadata Recipes.sqlite --set app.version=4.2 --unset draft
            """)

    @Argument(help: "The store: a SQLite file, with its -wal beside it.", completion: .file())
    var store: FilePath

    @Option("A pair to set; may be given again.", .pair) var set: [StoreMetadata.Pair] = []

    @Option(help: ArgumentHelp("A key to remove; may be given again.", valueName: "key"))
    var unset: [String] = []

    @Option(CopyArguments.busyTimeoutHelp, .seconds) var busyTimeout = CopyArguments.standardBusyTimeout

    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        var keys = Set(unset)
        for pair in set where !keys.insert(pair.key).inserted {
            throw ValidationError("--set and --unset name \(pair.key) more than once")
        }
        if let flaw = Manifest.firstFlaw(ofMetadata: StoreMetadata.dictionary(set).mapValues { ForeignText($0) }) {
            throw ValidationError(flaw)
        }
    }

    func run() async throws {
        try await output.run {
            [store, output, pairs = StoreMetadata.dictionary(set), removed = Set(unset), timeout = busyTimeout] _ in
            let path = store
            let metadata =
                if pairs.isEmpty && removed.isEmpty {
                    try await StoreMetadata.read(of: path, busyTimeout: timeout)
                } else {
                    try await StoreMetadata.set(pairs, removing: removed, of: path, busyTimeout: timeout)
                }
            output.write(json: metadata) { metadata.lines.forEach(Output.write) }
        }
    }
}

extension StoreMetadata {
    /// The facts that a store states, a line for each.
    fileprivate var lines: [PrintableText] {
        var lines: [PrintableText] = [
            "SQLite         \(Figures.bytes(sqlite.size))"
                + (sqlite.logSize > 0 ? " and \(Figures.bytes(sqlite.logSize)) in its -wal" : "")
                + ", \(sqlite.pageCount) \(sqlite.pageCount == 1 ? "page" : "pages") of \(sqlite.pageSize) bytes, \(sqlite.freePages) free",
            "settings       \(sqlite.textEncoding.rawValue), journal \(sqlite.journal.rawValue), "
                + "auto_vacuum \(sqlite.autoVacuum.rawValue), user_version \(sqlite.userVersion), "
                + "application_id \(sqlite.applicationID)",
        ]
        if let identity { lines.append("identity       \(identity)") }
        if let coreData { lines += Self.lines(of: coreData) }
        if let historyToken { lines.append("history token  \(historyToken)") }
        lines += metadata.sorted { $0.key < $1.key }.map { pair in
            "metadata       \(pair.key)=\(pair.value)"
        }
        return lines
    }

    private static func lines(of coreData: CoreData) -> [PrintableText] {
        let versions: [PrintableText] = [
            coreData.storeType.map { "type \($0)" }, coreData.frameworkVersion.map { "framework \($0)" },
            coreData.modelChecksum.map { "checksum \($0)" }, coreData.versionHashesDigest.map { "digest \($0)" },
        ].compactMap { $0 }
        let identifiers = coreData.modelVersionIdentifiers.filter { !$0.unescaped.isEmpty }.map {
            PrintableText("\($0)")
        }
        let words = versions.isEmpty ? "says nothing of its model" : versions.joined(separator: ", ")
        return ["Core Data      \(words)"]
            + (identifiers.isEmpty ? [] : ["model          \(identifiers.joined(separator: ", "))"])
            + coreData.entityVersionHashes.sorted { $0.key < $1.key }.map { entity in
                "entity         \(entity.key)  \(entity.value)"
            }
    }
}
