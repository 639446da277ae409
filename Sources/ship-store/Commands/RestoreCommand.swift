import ArgumentParser
import ShipStore
import SystemPackage

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Give a live store the content of a copy, while its app has it open.",
        usage: "ship-store restore <copy> --over <store> [<options>]",
        discussion: """
            To everybody who has the store open it is one transaction. The copy is checked first; the store as it was is \
            kept as a copy too, which stays until `ship-store copies --prune --tag \(CopyTag.beforeRestore)`. Where the \
            store is gone or damaged, the copy is put in its place; what is left of it is kept in STORE.damaged-TIME \
            beside it. The store's path goes to standard output.

              ship-store restore kept/Recipes-20261120T190405 --over Recipes.sqlite
              ship-store restore backups/latest.sqlite --over Recipes.sqlite --safety-copies kept
              ship-store restore .Recipes-safety/Recipes-20261121T080000 --over Recipes.sqlite --no-safety-copy
            """)

    @Argument(help: "A kept copy, a generation, or any SQLite store.", completion: .file())
    var copy: String

    @Option(help: ArgumentHelp("The store whose content is replaced.", valueName: "store"), completion: .file())
    var over: String

    @OptionGroup(title: "Restore options") var restore: RestoreArguments
    @OptionGroup(title: "Restore options") var busy: BusyArguments

    @Option(
        help: ArgumentHelp(
            "Do the work in a private folder inside this one, instead of in TMPDIR.", valueName: "folder"),
        completion: .directory)
    var temporaryFolder: String?

    @Option(
        help: ArgumentHelp(
            "Refuse to write what would leave less than this free on the disk. (default: 0)", valueName: "size"),
        transform: SizeArgument.read)
    var keepFree: SizeArgument?

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await Running.run(console) { [self] in
            var options = restore.options(busy.busyTimeout)
            if let temporaryFolder { options.temporaryFolder = FilePath(temporaryFolder) }
            if let keepFree { options.keptFree = keepFree.bytes }
            let restoration = try await LocalStore(FilePath(over)).restore(from: FilePath(copy), options: options)
            console.say("restored \(over): \(restoration.manifest.summary) of \(restoration.manifest.createdAt)")
            console.say(restoration)
            if output.json {
                Output.write(json: RestoreLine(restoration))
            } else {
                Output.write(path: FilePath(over))
            }
        }
    }
}

struct RestoreLine: Encodable {
    /// Of the store.
    let path: String
    /// A folder.
    let safetyCopy: String?
    /// What was wrong with the store as it was, and the folder in which it is kept then.
    let damage: String?
    let damagedStore: String?
    /// External files of the old state that had to stay.
    let remainingFiles: [RemainingFileLine]
    let manifest: Manifest

    init(_ restoration: Restoration) {
        path = restoration.store.string
        safetyCopy = restoration.safetyCopy?.path.string
        damage = restoration.damage.map { $0.words ?? "there was no store" }
        damagedStore = restoration.damage?.keptAs?.string
        remainingFiles = restoration.remainingFiles.map(RemainingFileLine.init)
        manifest = restoration.manifest
    }
}

/// How the content of a live store is replaced.
struct RestoreArguments: ParsableArguments {
    @Flag(
        help: "Take a copy of another store, or one of which that cannot be told: it has no identity and other tables.")
    var anyIdentity = false

    @Flag(help: "Take a copy that came without something (--strip-history, --exclude): the store loses it too.")
    var incomplete = false

    @Flag(help: "Keep no copy of the store as it was.")
    var noSafetyCopy = false

    @Option(
        help: ArgumentHelp(
            "Keep the store as it was in this folder, instead of .NAME-safety beside it.", valueName: "folder"))
    var safetyCopies: String?

    @OptionGroup(title: "Check options") var check: CheckArguments

    func validate() throws {
        if noSafetyCopy, safetyCopies != nil {
            throw ValidationError("--safety-copies and --no-safety-copy contradict each other")
        }
    }

    func options(_ busyTimeout: Seconds) -> RestoreOptions {
        var options = RestoreOptions()
        options.busyTimeout = busyTimeout.duration
        options.identity = anyIdentity ? .any : .same
        options.incompleteCopy = incomplete ? .taken : .refused
        options.checking = check.options
        if noSafetyCopy { options.safetyCopy = .none }
        if let safetyCopies { options.safetyCopy = .kept(KeptCopies(in: FilePath(safetyCopies))) }
        return options
    }
}

extension Console {
    /// What a restore leaves that the user may want to know of.
    func say(_ restoration: Restoration) {
        if let copy = restoration.safetyCopy {
            say("the store as it was is kept as \(copy.path)")
            say(
                "it stays until `ship-store copies --in \(copy.path.removingLastComponent()) --prune --tag \(CopyTag.beforeRestore)`"
            )
        }
        if let damage = restoration.damage { say(damage) }
        OmissionWords(restoration.manifest).lines.forEach(say)
        for missing in restoration.manifest.missingExternalFiles {
            warn("the copy came without \(missing.relativePath)")
        }
        say(restoration.remainingFiles)
    }

    private func say(_ damage: Restoration.Damage) {
        guard let words = damage.words else {
            say("there was no store")
            if let folder = damage.keptAs { say("what was beside it is kept in \(folder)") }
            return
        }
        warn("\(words)")
        if let folder = damage.keptAs {
            say("the damaged store is kept in \(folder); who has it open still has that one")
        }
    }
}
