import ArgumentParser
import ShipStore
import SystemPackage

struct MoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Put a store into another folder, and remove the old one if asked.",
        usage: "ship-store move <store> --to <folder> [--remove-old] [<options>]",
        discussion: """
            The store keeps its name, its identity, its history, its keys, its journal mode and its external files; it is read back and \
            checked at its new place. Only then, and only with --remove-old, the old one goes: its app must have closed it. Without \
            --remove-old there are two stores of one identity afterwards. The new path goes to standard output.

              ship-store move Recipes.sqlite --to Group
              ship-store move Recipes.sqlite --to Group --remove-old
            """)

    @Argument(help: "The store: a SQLite file, with its -wal and its external files beside it.", completion: .file())
    var store: FilePath

    @Option("The folder, made if it is not there.", .folder) var to: FilePath

    @Flag(help: "Remove the old store once the new one is whole.")
    var removeOld = false

    @Flag(help: "Give the store of that name at the new place, if there is one, the content of this one.")
    var replace = false

    @OptionGroup(title: "Options of --replace") var restore: RestoreArguments
    @OptionGroup(title: "Copy options") var copy: CopyArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        if !replace, restore.isGiven {
            throw ValidationError(
                "--any-identity, --incomplete, --damaged, --no-safety-copy and --safety-copies belong to --replace")
        }
    }

    func run() async throws {
        try await output.run { [self] console in
            var options = MoveOptions()
            options.removesOriginal = removeOld
            options.replacesOccupant = replace
            options.restore = restore.options(copy.busyTimeout)
            options.restore.keptFree = copy.copyOptions.keptFree
            let moved = try await LocalStore(store, options: copy.copyOptions, memory: .standard)
                .move(to: to, options: options)
            say(moved, to: console)
            output.write([
                "path": moved.path.text, "oldIsRemoved": removeOld,
                "remainingFiles": moved.remainingFiles.map(\.json),
            ]) { Output.write(path: moved.path) }
        }
    }

    private func say(_ moved: Relocation, to console: Console) {
        let verb = removeOld ? "moved" : "copied"
        switch moved.outcome {
        case .placed(let manifest): console.say("\(verb) \(store): \(manifest.summary) to \(moved.path)")
        case .replaced(let restoration):
            console.say("\(verb) \(store): \(restoration.manifest.summary) over \(moved.path)")
            console.say(restoration)
        case .wasThere: console.say("\(store) had been moved to \(moved.path) already; what was left of it is gone")
        }
        if !removeOld {
            console.say(
                "\(store) is still there: two stores of one identity, and what is written to one is not in the other; "
                    + "--remove-old removes the old one")
        }
        console.say(goneWithItsStore: moved.removedLinks)
        console.say(moved.remainingFiles)
    }
}
