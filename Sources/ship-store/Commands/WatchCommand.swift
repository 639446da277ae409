import ArgumentParser
import ShipStore
import SystemPackage

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Say what changes in an inbox, as it changes, and run a command after each change.",
        usage: "ship-store watch --into <folder> [<name> ...] [<options>]",
        discussion: """
            One line a change on standard output; with --json one object. The command is run by `sh -c`, one after the \
            other, with the change in its environment: SHIP_STORE_NAME, SHIP_STORE_GENERATION, SHIP_STORE_PATH (the \
            store's file) and SHIP_STORE_CHANGE (the object that --json writes). If it is busy while several shipments \
            arrive, the next change tells of all of them. It goes on until it is stopped.

              ship-store watch --into inbox
              ship-store watch --into inbox Recipes --exec 'sqlite3 -readonly "$SHIP_STORE_PATH" .dump > recipes.sql'
              ship-store watch --into inbox --once && echo something new
            """)

    @Option(help: ArgumentHelp("The inbox.", valueName: "folder"), completion: .directory)
    var into: String

    @Argument(help: "The stores to tell of. (default: all)", transform: StoreNameArgument.read)
    var name: [StoreNameArgument] = []

    @Option(help: ArgumentHelp("Run this after each change.", valueName: "command"))
    var exec: String?

    @Flag(help: "End after the first change; with --exec, with the status of the command.")
    var once = false

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        let (inbox, names) = (Inbox(at: FilePath(into)), Set(name.map(\.name)))
        // One that goes on until it is told to stop has done what it was asked for.
        try await Running.run(console, whenStopped: once ? nil : .success) { [output, exec, once] in
            do throws(InboxError) {
                _ = try inbox.storeNames()
            } catch {
                throw ShipmentError.install(error)
            }
            let changes: StoreChanges
            do throws(CoordinatorError) {
                changes = try StoreCoordinator(inbox: inbox.root).changes()
            } catch {
                throw ShipmentError.serving(error)
            }
            let whose = names.isEmpty ? "" : " for " + names.sorted().map(\.text).joined(separator: ", ")
            console.say("watching \(inbox.root)\(whose)")
            for await change in changes where names.isEmpty || names.contains(change.store) {
                let line = ChangeLine(change, in: inbox)
                if output.json { Output.write(json: line) } else { Output.write(line.text) }
                let problem =
                    if let exec { try await ChangeCommand(exec).run(for: line) } else { nil as ChangeCommand.Problem? }
                if let problem { console.complain("the command \(problem.words)") }
                guard once else { continue }
                if let problem { throw ExitCode(problem.status) }
                return
            }
        }
    }
}
