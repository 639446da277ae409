import ArgumentParser
import ShipStore
import SystemPackage

struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove a store with all its generations from an inbox.",
        usage: "ship-store forget <name> --into <folder> [<options>]",
        discussion: """
            Everything goes in one step, or nothing: while a reader holds one of the generations, all of them stay. What is known of the \
            store goes too: from which device it came, how far its numbers have risen, and what was rolled back; so the next shipment of \
            that name is a first one. A receiver may be at work. Where an earlier run was killed, this does the rest.

              ship-store forget Recipes --into inbox
            """)

    @Argument(help: "The store's name, as `ship-store list` shows it.", completion: .stores, transform: StoreName.read)
    var name: StoreName

    @Option("The inbox.", .folder) var into: FilePath

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        try await output.run { [name, into, output] console in
            let forgetting = try await Forgetting.perform(on: name, in: Inbox(at: into))
            let count = forgetting.generations.count
            console.say(
                count == 0
                    ? "forgot \(name): what was left of it is gone"
                    : "forgot \(name): \(count) generation\(count == 1 ? " is" : "s are") gone")
            if let lease = forgetting.leasedUntil {
                console.warn(
                    "a sender was told, in a holdings file, that \(name) is held until \(lease.text): what it sends for that file "
                        + "is refused. Give it a new one once the store has come again")
            }
            output.write([
                "name": forgetting.name.text, "generations": forgetting.generations,
                "leasedUntil": forgetting.leasedUntil?.text,
            ])
        }
    }
}
