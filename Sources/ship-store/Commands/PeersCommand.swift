import ArgumentParser
import ShipStore

struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "List the devices that this one trusts.",
        discussion: """
            Each line has the name, the id, since when it is trusted, and what it may do.

              ship-store peers
              ship-store peers --json
            """)

    @OptionGroup(title: "Device options") var device: DeviceArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        try await output.run { [device = device.device, output] console in
            let peers = try device.peers()
            for peer in peers {
                output.write(json: peer) {
                    Output.write("\(peer.name)  \(peer.id)  since \(peer.since)  \(peer.rights)")
                }
            }
            if peers.isEmpty { console.say("no device is trusted yet") }
        }
    }
}
