import ArgumentParser
import Foundation
import ShipStore
import StoreFiles
import SystemPackage

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Say what changes in an inbox, as it changes, and run a command after each change.",
        usage: "ship-store watch --into <folder> [<name> ...] [<options>]",
        discussion: """
            First one line a store with what is current; then one line a change on standard output; with --json one object. \
            The command is run by `sh -c`, one after the other, with the change in its environment: SHIP_STORE_NAME, \
            SHIP_STORE_GENERATION, SHIP_STORE_PATH (the absolute path of the store's file in that generation, which stays \
            until the command ends) and SHIP_STORE_CHANGE (the object that --json writes). If it is busy while several \
            shipments arrive, the next change tells of all of them. It goes on until it is stopped.

            What arrived while nobody watched is a change as well with --since and the number of the generation that was \
            handled last; 0 makes everything one.

              ship-store watch --into inbox
              ship-store watch --into inbox Recipes --exec 'sqlite3 -readonly "$SHIP_STORE_PATH" .dump > recipes.sql'
              ship-store watch --into inbox Recipes --since 7 --exec ./take-over
              ship-store watch --into inbox --once && echo something new
            """)

    @Option(help: ArgumentHelp("The inbox.", valueName: "folder"), completion: .directory)
    var into: String

    @Argument(help: "The stores to tell of. (default: all)", transform: StoreNameArgument.read)
    var name: [StoreNameArgument] = []

    @Option(help: ArgumentHelp("Run this after each change.", valueName: "command"))
    var exec: String?

    @Option(
        help: ArgumentHelp(
            "Begin with the change from this generation to the current one, if that is another; 0 for none.",
            valueName: "generation"))
    var since: Int?

    @Flag(help: "End after the first change; with --exec, with the status of the command.")
    var once = false

    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        guard let since else { return }
        if since < 0 { throw ValidationError("--since takes a number from 0 on") }
        // Each store has numbers of its own.
        if since > 0, name.count != 1 {
            throw ValidationError("--since takes the name of one store with it, unless it is 0")
        }
    }

    func run() async throws {
        let console = output.console
        // A command that is run may be elsewhere by the time at which it opens the store.
        let (inbox, names) = (Inbox(at: absolute(FilePath(into))), Set(name.map(\.name)))
        // One that goes on until it is told to stop has done what it was asked for.
        try await Running.run(console, whenStopped: once ? nil : .success) { [output, exec, once, into, since] in
            do throws(InboxError) {
                _ = try Inbox(at: FilePath(into)).storeNames()
            } catch {
                throw ShipmentError.install(error)
            }
            let changes: StoreChanges
            do throws(CoordinatorError) {
                changes = try StoreCoordinator(inbox: inbox.root).changes(since: since)
            } catch {
                throw ShipmentError.serving(error)
            }
            let whose = names.isEmpty ? "" : " for " + names.sorted().map(\.text).joined(separator: ", ")
            console.say("watching \(into)\(whose)")
            func tell(_ line: ChangeLine) {
                if output.json { Output.write(json: line) } else { Output.write(line.text) }
            }
            for current in changes.current where names.isEmpty || names.contains(current.store) {
                tell(ChangeLine(current))
            }
            for await change in changes where names.isEmpty || names.contains(change.store) {
                // What is announced stays until it has been dealt with.
                let hold = change.generation.flatMap { try? FolderLock.take(.shared, on: $0.path) }
                defer { withExtendedLifetime(hold) { _ in } }
                let line = ChangeLine(change, in: inbox)
                tell(line)
                let problem =
                    if let exec { try await ChangeCommand(exec).run(for: line) } else { nil as ChangeCommand.Problem? }
                if let problem { console.complain("the command \(problem.words)") }
                guard once else { continue }
                if let problem { throw ExitCode(problem.status) }
                return
            }
        }
    }

    private func absolute(_ path: FilePath) -> FilePath {
        FilePath(FileManager.default.currentDirectoryPath).pushing(path).lexicallyNormalized()
    }
}

extension StoreChange {
    /// What is current now, if it is a change of that.
    fileprivate var generation: GenerationStamp? {
        guard case .generation(let change) = self else { return nil }
        return change.to
    }
}
