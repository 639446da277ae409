import ArgumentParser
import ShipStore
import SystemPackage

struct DestroyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destroy",
        abstract: "Remove a store with all that belongs to it.",
        usage: "ship-store destroy <store> [<options>]",
        discussion: """
            The store goes, and with it its -wal, -shm and -journal and its external files; no copy is kept. Its app must \
            have closed it. Where an earlier run was killed, this removes what it left.

              ship-store destroy Recipes.sqlite
            """)

    @Argument(help: "The store: a SQLite file.", completion: .file())
    var store: String

    @OptionGroup(title: "Options") var busy: BusyArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await Running.run(console) { [self] in
            var options = CopyOptions()
            options.busyTimeout = busy.busyTimeout.duration
            try await LocalStore(FilePath(store), options: options).destroy()
            console.say("destroyed \(store)")
            if output.json { Output.write(json: DestroyLine(destroyed: store)) }
        }
    }
}

private struct DestroyLine: Encodable {
    let destroyed: String
}
