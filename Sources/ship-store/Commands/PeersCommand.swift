import ArgumentParser
import ShipStore
import SystemPackage

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

struct IdentityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Say who this device is.",
        discussion: """
            The id is what another device is told with `ship-store trust`. It is no secret; the key that it stands for \
            never leaves this device, and is made the first time that it is needed.

              ship-store identity
              ship-store identity --qr
            """)

    @Flag(help: "Show the id as a QR code too.")
    var qr = false

    @OptionGroup(title: "Device options") var device: DeviceArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        if qr, output.json { throw ValidationError("--qr and --json exclude each other") }
    }

    func run() async throws {
        try await Running.run(output.console) { [device = device.device, qr, output] in
            let id = try device.identity().id
            if output.json {
                Output.write(json: IdentityLine(id: id, folder: device.folder.path.string))
            } else {
                Output.write("\(id)")
            }
            guard qr, let code = QRCode(id.pictureText) else { return }
            let colours: QRCode.Colours = Output.isTerminal ? .blackOnWhite : .ofTheTerminal
            Output.write(code, colours)
        }
    }
}

private struct IdentityLine: Encodable {
    let id: DeviceIdentifier
    let folder: String
}
