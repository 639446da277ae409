import ArgumentParser
import ShipStore
import SystemPackage

struct BasesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bases",
        abstract: "List the copies that this device remembers because receivers have them, add one, or remove them.",
        usage: """
            ship-store bases [--name <name>]
            ship-store bases --add <file> [<store>] [--name <name>]
            ship-store bases --remove <name> ... | --remove-all [--dry-run]
            """,
        discussion: """
            Of each store the newest copy is kept that each receiver has acknowledged, so that the next shipment can say what differs from \
            it; equal copies take room once. They are in $XDG_STATE_HOME/ship-store/bases, or ~/.local/state/ship-store/bases: at most 1 \
            GB, and never of the last tenth of the disk; those that were used longest ago go first. They hold rows that the app has \
            deleted since. `send --no-remember` keeps none, and `destroy` removes those of its store. With a copy those of its external \
            files are kept that a delta is likely to build on: each of 16 KiB to 8 MiB that deflates, at most 512 of them, and at most a \
            quarter of the 1 GB. They go first where there is no room. A copy of which a shipment broke off is kept for a day, with what \
            has gone of it, so that the next `send` goes on there; it is the first to go where there is no room. What went into a file or \
            a pipe is not among them, as nobody says that it has arrived: `send --since` and `--for` build on that.

            --add takes a copy that receivers have from elsewhere, as from an app's bundle (`ship-store adopt`): one that \
            `ship-store copy STORE --as NAME.base.sqlite` has made. It is copied, serves for every receiver, and is pinned: it stays until \
            it is removed. The store is named where it does not lie beside it.

            Each line has the name, the path of the store, who acknowledged the copy, or the publication in which it is (its landmark and \
            catalog are states that new shipments there build on too), its size, that of its external files, if there are any, and when it was \
            remembered; for a shipment that is not finished also how much of it has gone. The one that was used last comes first. What is \
            removed goes to standard output.

              ship-store bases
              ship-store bases --name Recipes --json
              ship-store bases --add Recipes.base.sqlite
              ship-store bases --add Recipes.base.sqlite /var/lib/app/Recipes.sqlite
              ship-store bases --remove Recipes
              ship-store bases --remove-all --dry-run
            """)

    @Argument(help: "With --add: the store. (default: beside the copy, without .base)", completion: .file())
    var store: FilePath?

    @Option("Only copies that went under this name; with --add, the name under which the store is sent.", .name)
    var name: StoreName?

    @Option(help: ArgumentHelp("Add and pin this copy of the store.", valueName: "file"), completion: .file())
    var add: FilePath?

    @Option("Remove the copies that went under this name; may be given again.", .name) var remove: [StoreName] = []

    @Flag(help: "Remove all of them.")
    var removeAll = false

    @Flag(help: "Remove nothing, and say what would go.")
    var dryRun = false

    @OptionGroup(title: "Output options") var output: OutputOptions

    private var isToRemove: Bool { removeAll || !remove.isEmpty }

    /// The store that is named, or from which `copy --as` has made what is added, beside it.
    private var source: FilePath? {
        guard store == nil, let add, let stem = add.stem, stem.hasSuffix(".base") else { return store }
        return add.removingLastComponent().appending("\(stem.dropLast(5))\(add.extension.map { ".\($0)" } ?? "")")
    }

    func validate() throws {
        if (add == nil) != (source == nil) {
            throw ValidationError(
                add == nil
                    ? "a store is named with --add"
                    : "say of which store it is: --add COPY STORE; of NAME.base.sqlite it is NAME.sqlite beside it")
        }
        if add != nil, isToRemove { throw ValidationError("--add adds, and removes nothing") }
        if removeAll, !remove.isEmpty { throw ValidationError("--remove and --remove-all exclude each other") }
        if isToRemove, name != nil { throw ValidationError("--name is for listing; --remove takes a name itself") }
        if dryRun, !isToRemove { throw ValidationError("--dry-run belongs to --remove and --remove-all") }
    }

    func run() async throws {
        try await output.run { [self] console in
            let memory = BaseMemory.standard
            if let add, let source {
                let record = try await memory.add(add, of: source, named: name)
                console.say("added \(add) as a base of \(record.key.name): \(Figures.bytes(record.size))")
                if output.json { Output.write(record.json("added")) }
                return
            }
            guard isToRemove else {
                let records = try memory.list().filter { name == nil || $0.key.name == name }
                memory.warnIfUnusable(on: console)
                write(records, outcome: nil)
                if records.isEmpty { console.say("nothing is remembered\(name == nil ? "" : " under that name")") }
                return
            }
            let wanted = removeAll ? nil : remove
            let records = try await dryRun ? memory.list(named: wanted) : memory.remove(named: wanted)
            write(records, outcome: dryRun ? "would-remove" : "removed")
            let copies = "\(records.count) cop\(records.count == 1 ? "y" : "ies")"
            console.say("\(dryRun ? "would remove" : "removed") \(copies)")
        }
    }

    private func write(_ records: [BaseRecord], outcome: String?) {
        for record in records {
            output.write(record.json(outcome)) {
                Output.write(
                    "\(record.key.name)  \(record.key.store)  \(record.isPinned ? "every receiver, pinned" : record.receiver)  \(Figures.bytes(record.size))  "
                        + "\(record.filesWords)\(record.rememberedAt)\(record.progressWords)")
            }
        }
    }
}

extension BaseMemory {
    /// No shipment fails because nothing of it can be read, or written: each takes more bytes, and nothing else would say why.
    func warnIfUnusable(on console: Console) {
        var flaw = obstacle.map(BaseMemoryError.file)
        do throws(BaseMemoryError) {
            _ = try records()
        } catch {
            // What the system does not give now, it may give when a shipment asks for it.
            if case .file = error {} else { flaw = error }
        }
        guard let flaw else { return }
        let words: PrintableText = "shipments take more bytes: \(flaw.cause)"
        console.warn(flaw.hint.map { "\(words); \($0)" } ?? words)
    }
}

extension BaseRecord {
    fileprivate func json(_ outcome: String?) -> JSONObject {
        let files = externalFiles
        return [
            "name": key.name.text,
            // The live store's path.
            "store": key.store.text,
            // A device's id, or an endpoint; * for what was added by hand, and is pinned.
            "receiver": receiver, "isPinned": isPinned ? true : nil, "size": size,
            // How many are remembered with the copy, and their bytes together.
            "externalFiles": files.count > 0 ? files.count : nil, "externalSize": files.count > 0 ? files.size : nil,
            "sha256": sha256.hex, "rememberedAt": rememberedAt.text,
            // About how many bytes of the open part were sent.
            "unfinishedBytes": unfinishedSize,
            // Of the remembered copy.
            "path": path.text, "outcome": outcome,
        ]
    }

    fileprivate var filesWords: String {
        let (count, size) = externalFiles
        return count == 0 ? "" : "and \(count) external file\(count == 1 ? "" : "s"), \(Figures.bytes(size))  "
    }

    fileprivate var progressWords: String {
        unfinishedSize.map { "  unfinished, \(Figures.bytes($0)) sent" } ?? ""
    }
}
