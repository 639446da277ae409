import ArgumentParser
import ShipStore

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
        try await output.console.run { [device = device.device, qr, output] in
            let id = try device.identity().id
            if output.json {
                Output.write(object: ["id": id, "folder": device.folder.path.text])
            } else {
                Output.write("\(id)")
            }
            guard qr, let code = QRCode(id.pictureText) else { return }
            Output.write(code, blackOnWhite: Output.isTerminal)
        }
    }
}
