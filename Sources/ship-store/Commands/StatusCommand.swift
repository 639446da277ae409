import ArgumentParser
import ShipStore
import StoreInbox
import SystemPackage

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say of each store of an inbox whether it is well, how old it is, and what failed last.",
        discussion: """
            A line a store: how it is, its name, what is current, how much that is, when it was installed, and how old it is if \
            its sender follows it. Below that who sent it, what is coming in or waits for the rest, whether it is held \
            since a rollback or halted by its publisher, and why the last shipment failed, since when, and what to do.

            A store is failing if a shipment of it failed, and none has succeeded since, or if what is current cannot be \
            read. The exit status is 80 if one is, otherwise 0: a store that is held, halted or empty yet is no failure. To forget of \
            a store that it failed, `ship-store forget` it, or let a shipment succeed.

            This command only reads. A receiver may be at work meanwhile, or not.

              ship-store status --into inbox
              ship-store status --into inbox --json
            """)

    @Option("The inbox.", .folder) var into: FilePath

    @OptionGroup var device: DeviceArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        try await output.run { [into, output, device = device.device] console in
            let stores = try Inbox(at: into).status()
            let names = StoreStatus.names(knownTo: device)
            if output.json {
                for store in stores { Output.write(store.json(names)) }
            } else {
                let lines = StoreStatus.columns.lines(of: stores.map(\.fields))
                lines.prefix(1).forEach(Output.write)
                for (line, store) in zip(lines.dropFirst(), stores) {
                    Output.write(line)
                    for detail in store.details(names) { Output.write("   \(detail)") }
                }
            }
            if stores.isEmpty { console.say("no store has been installed yet") }
            guard let failing = stores.first(where: { $0.state == .failing }) else { return }
            console.fail(failing.cause, hint: failing.hint, .failing)
            throw ExitCode(ExitStatus.failing.rawValue)
        }
    }
}
