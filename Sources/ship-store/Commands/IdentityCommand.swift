import ArgumentParser
import ShipStore
import SystemPackage

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
