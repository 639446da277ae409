import ArgumentParser
import ShipStore
import SystemPackage

struct DestroyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destroy",
        abstract: "Remove a store with all that belongs to it.",
        usage: "ship-store destroy <store> [--dry-run] [<options>]",
        discussion: """
            The store goes, and with it its -wal, -shm and -journal, the external files that it alone refers to, and the symbolic link by \
            which you name it; no copy is kept. Its app must have closed it. What other stores of the same stem refer to, or no store \
            explains, stays, and is told. Where an earlier run was killed, this removes what it left. A file that SQLite cannot open is \
            removed only with --force, and its external files stay. `ship-store forget` is for a store of an inbox. What this device \
            remembers of its shipments (`ship-store bases`) goes first.

              ship-store destroy Recipes.sqlite --dry-run
              ship-store destroy Recipes.sqlite
              ship-store destroy Broken.sqlite --force
            """)

    @Argument(help: "The store: a SQLite file.")
    var store: FilePath

    @Flag(help: "Remove nothing, and say what would go.")
    var dryRun = false

    @Flag(help: "Remove the file although SQLite cannot open it.")
    var force = false

    @OptionGroup(title: "Options") var busy: BusyArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        try await output.run { [self] console in
            var options = CopyOptions()
            options.busyTimeout = busy.busyTimeout
            let local = LocalStore(store, options: options, memory: .standard)
            if dryRun {
                let plan = try await local.destructionPlan()
                output.write([
                    "wouldGo": plan.paths.map(\.text), "remainingFiles": plan.remainingFiles.map(\.json),
                ]) { for path in plan.paths { Output.write("would go  \(path)") } }
                console.say(plan.remainingFiles)
                return
            }
            let destruction = try await destroy(local)
            console.say("destroyed \(store)")
            console.say(goneWithItsStore: destruction.links)
            let copies = destruction.rememberedCopies.count
            if copies > 0 {
                console.say("forgot \(copies) cop\(copies == 1 ? "y" : "ies") of it that receivers have acknowledged")
            }
            console.say(destruction.remainingFiles)
            if output.json {
                Output.write(["path": store.text, "remainingFiles": destruction.remainingFiles.map(\.json)])
            }
        }
    }

    private func destroy(_ store: LocalStore) async throws(ShipmentError) -> Destruction {
        do throws(ShipmentError) {
            return try await store.destroy()
        } catch {
            switch error {
            case .operation(.notADatabase), .operation(.corrupt), .operation(.sqlite):
                guard let damage = try await store.damage() else { throw error }
                guard force else { throw .operation(.unusable(ForeignText(damage))) }
                return try await store.destroyDamaged()
            default: throw error
            }
        }
    }
}

extension Destruction {
    /// Everything that would go. The file of a remembered copy stays if it is a copy of another store too.
    fileprivate var paths: [FilePath] {
        links + [store] + files + Set(rememberedCopies.map(\.path)).sorted { $0.text < $1.text }
    }
}
