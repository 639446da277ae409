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
        let console = output.console
        try await Running.run(console) { [device = device.device, output] in
            let peers = try device.peers()
            for peer in peers {
                if output.json {
                    Output.write(json: peer)
                } else {
                    Output.write("\(peer.name)  \(peer.id)  since \(peer.since)  \(peer.rights)")
                }
            }
            if peers.isEmpty { console.say("no device is trusted yet") }
        }
    }
}

extension TrustedPeer {
    /// What it may do, in words.
    var rights: String {
        let what =
            switch stores {
            case .all: "every store"
            case .only(let names) where names.isEmpty: "no store"
            case .only(let names): names.sorted().map(\.text).joined(separator: ", ")
            }
        let verbs = [(Role.sender, "send"), (Role.receiver, "receive")].filter { roles.contains($0.0) }.map(\.1)
        let may = verbs.isEmpty ? "may do nothing" : "may \(verbs.joined(separator: " and ")) \(what)"
        let takenOver = takesOver.sorted().map(\.text).joined(separator: ", ")
        return takenOver.isEmpty ? may : "\(may); takes over \(takenOver)"
    }
}
