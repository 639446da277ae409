import ArgumentParser
import ShipStore
import SystemPackage

struct HoldingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdings",
        abstract: "Say what an inbox holds of a sender, in a file for that sender.",
        usage: "ship-store holdings --into <folder> [--for <id or name>] [<options>]",
        discussion: """
            For ways on which nobody answers, as files that are carried or copied: the sender makes shipments for exactly this \
            receiver of it, which say what has changed since. What is named stays until the time that the file says, whatever is \
            pruned; of each store that is one generation, the one that was named last.

            Without --for it is about senders that do not sign. Nothing of what other senders have sent is in the file.

              ship-store holdings --into inbox --for phone > watch.holdings
              ship-store send Recipes.sqlite --for watch.holdings --to ./next.shipment
              ship-store receive --into inbox --from ./next.shipment
            """)

    @Option("The inbox.", .folder) var into: FilePath

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "The id, or the name, of the device that sends. (default: one that does not sign)", valueName: "id or name"),
        completion: .devices)
    var sender: String?

    @Option("How long what is named stays: 90s, 15m, 12h, 7d or 2w. (default: 7d)", .age) var hold: Duration?

    @OptionGroup(title: "Device options") var device: DeviceArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        try await output.run { [into, sender, hold, device = device.device] console in
            let id = try sender.map { try DeviceIdentifier.read($0, knownTo: device) }
            let file = try HoldingsFile.make(
                of: Inbox(at: into), for: id, by: device,
                holding: hold ?? .seconds(7 * 86_400))
            // The same for people and for programs: it is a file.
            Output.write(json: file)
            let names = file.holds.map { "\($0.name)" }.joined(separator: ", ")
            console.say(
                file.holds.isEmpty
                    ? "nothing that is current here came from that sender"
                    : "\(names) stay\(file.holds.count == 1 ? "s" : "") until \(file.until)")
        }
    }
}
