import ArgumentParser
import ShipStore
import SystemPackage

struct CopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Take a consistent, compact copy of a live store on this device.",
        usage: """
            ship-store copy <store> ... --to <folder> [--as <file>]
            ship-store copy <store> --as <file>
            ship-store copy <store> ... --keep-in <folder> [--tag <tag>]
            """,
        discussion: """
            With --to, the copy is one file, BASENAME-yyyyMMddTHHmmss.sqlite (UTC), with its external files beside it, \
            or BASENAME-yyyyMMddTHHmmss-2.sqlite if there is one already. With --as, it is called that, and takes the place of the copy that is there already, in one step; --as alone puts it into the working folder, as \
            for an app's bundle (`ship-store adopt`, `ship-store bases --add`). With \
            --keep-in, it is kept in a folder of its own beside others, with its manifest; external files that an older \
            one has too take no room again. The path of each copy goes to standard output.

              ship-store copy Recipes.sqlite --to backups
              ship-store copy Recipes.sqlite --to backups --strip-history --exclude ZDRAFT
              ship-store copy Recipes.sqlite --to backups --as latest.sqlite
              ship-store copy Recipes.sqlite --as Recipes.base.sqlite
              ship-store copy Recipes.sqlite --keep-in kept --tag before-import
            """)

    @Argument(
        help: "The stores: SQLite files, with their -wal and their external files beside them.", completion: .file())
    var stores: [FilePath]

    @Option("The folder, made if it is not there.", .folder) var to: FilePath?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("The copy's name in the folder of --to, or in the working folder.", valueName: "file"))
    var fileName: String?

    @Option("The folder of kept copies, made if it is not there.", .folder) var keepIn: FilePath?

    @Option(
        name: .customLong("tag"),
        help: ArgumentHelp("A word to find the kept copy by; may be given again.", valueName: "tag"))
    var tags: [String] = []

    @Option(name: .customLong("meta"), "A pair to keep with the copy; may be given again.", .pair)
    var metadata: [StoreMetadata.Pair] = []

    @Flag(
        help:
            "Take a damaged store too, as far as SQLite can read it, as evidence: no receiver takes the copy, and `restore` does only with --damaged."
    )
    var damaged = false

    @OptionGroup(title: "Copy options") var copy: CopyArguments
    @OptionGroup(title: "What to leave out") var leaving: ProfileArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        guard !stores.isEmpty else { throw ValidationError("name a store") }
        if fileName != nil, keepIn != nil { throw ValidationError("--as names a copy in the folder of --to") }
        guard (to == nil && fileName == nil) != (keepIn == nil) else {
            throw ValidationError("say one of --to, --as and --keep-in")
        }
        if fileName != nil, stores.count > 1 { throw ValidationError("--as names the copy of one store") }
        if keepIn == nil, !tags.isEmpty || !metadata.isEmpty {
            throw ValidationError("--tag and --meta are kept with --keep-in")
        }
        var keys = Set<String>()
        for pair in metadata where !keys.insert(pair.key).inserted {
            throw ValidationError("--meta gives \(pair.key) twice")
        }
    }

    private var options: CopyOptions {
        var options = copy.copyOptions(leavingOut: leaving)
        options.takesDamaged = damaged
        return options
    }

    func run() async throws {
        try await output.run { [self, options] console in
            for store in stores {
                let made = try await make(store)
                console.say("copied \(store): \(made.manifest.summary) to \(made.path)")
                made.manifest.omissionLines(askedFor: options.profile).forEach(console.say)
                if let damage = made.damage { console.warn("\(store) is damaged: \(damage)") }
                for missing in made.manifest.missingExternalFiles {
                    console.warn("copied without \(missing.relativePath), which is not there")
                }
                output.write([
                    "path": made.file.text,
                    // Of a kept copy.
                    "folder": keepIn == nil ? nil : made.path.text, "manifest": made.manifest,
                    // What is wrong with the store; left out for a sound one.
                    "damage": made.damage,
                ]) { Output.write(path: made.path) }
            }
        }
    }

    private func make(_ store: FilePath) async throws(ShipmentError) -> (
        path: FilePath, file: FilePath, manifest: Manifest, damage: ForeignText?
    ) {
        if let keepIn {
            let kept = try await LocalStore(store, options: options).keepCopy(
                in: KeptCopies(in: keepIn), tags: try tags.asTags(), metadata: StoreMetadata.dictionary(metadata))
            return (kept.path, kept.storePath, kept.manifest, kept.damage)
        }
        let folder = to ?? ""
        let made =
            if let fileName {
                try await LocalCopy.take(of: store, into: folder, as: try CopyFileName(fileName), options: options)
            } else {
                try await LocalCopy.take(of: store, into: folder, options: options)
            }
        return (made.path, made.path, made.manifest, made.damage)
    }
}

extension [String] {
    /// The tags that a user gave with `--tag`.
    func asTags() throws(ShipmentError) -> [CopyTag] {
        try ShipmentError.wrapping { try map { try CopyTag($0) } }
    }
}
