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

            With --encryption-key it says with what others encrypt for this device, as `ship-store send --encrypt-to` does. That \
            is no secret either.
            """)

    @Flag(help: "Show the id as a QR code too.")
    var qr = false

    @Flag(help: "Say the key with which others encrypt for this device, in place of the id.")
    var encryptionKey = false

    @OptionGroup(title: "Device options") var device: DeviceArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        if qr, encryptionKey { throw ValidationError("--qr and --encryption-key exclude each other") }
        if qr, output.json { throw ValidationError("--qr and --json exclude each other") }
    }

    func run() async throws {
        try await output.console.run { [device = device.device, qr, encryptionKey, output] in
            if encryptionKey {
                let key = try device.encryptionKey()
                output.write(["encryptionKey": "\(key)", "folder": device.folder.path.text]) { Output.write("\(key)") }
                return
            }
            let id = try device.identity().id
            output.write(["id": id, "folder": device.folder.path.text]) { Output.write("\(id)") }
            guard qr, let code = QRCode(id.pictureText) else { return }
            Output.write(code, blackOnWhite: Output.isTerminal)
        }
    }
}
