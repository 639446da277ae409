import ArgumentParser
import ShipStore

struct DistrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "distrust",
        abstract: "Trust a device no more.",
        usage: "ship-store distrust <id or name> [<options>]",
        discussion: """
            From now on it is a stranger: it does not get in again. What it has sent stays.

              ship-store distrust watch
            """)

    @Argument(
        help: ArgumentHelp("The id or the name of the other device.", valueName: "id or name"), completion: .devices)
    var peer: String

    @OptionGroup(title: "Device options") var device: DeviceArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        try await output.run { [device = device.device, peer, output] console in
            let peer = try device.distrust(peer)
            if output.json { Output.write(json: peer) }
            console.say("\(peer.name) is trusted no more")
        }
    }
}
