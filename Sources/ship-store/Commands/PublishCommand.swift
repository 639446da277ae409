import ArgumentParser
import ShipStore
import ShipStoreNetwork

struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Look after a publication: remove what nobody needs any more.",
        discussion: """
            Stores are published by `ship-store send STORE --to dir:PATH`, and received by any number of receivers, with \
            `ship-store receive --into DIR --from https://HOST/PATH`, from whatever web server shows that folder. With \
            --follow the sender removes what nobody needs by itself; otherwise this command does.

              ship-store publish --prune dir:public/kitchen
            """)

    @Option(
        help: ArgumentHelp(
            "Remove objects that no shipment needs any more from here: dir:PATH or s3://BUCKET/PREFIX.",
            valueName: "endpoint"),
        completion: .directory, transform: Endpoint.read)
    var prune: Endpoint

    @Option(
        help: ArgumentHelp(
            "Keep them this long after the first head that does not need them, for who has just read another. (default: 24h)",
            valueName: "time"), transform: Duration.readInterval)
    var grace: Duration?

    @OptionGroup var device: DeviceArguments
    @OptionGroup(title: "Publications") var storage: StorageArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws { try storage.validate(for: prune) }

    func run() async throws {
        let console = output.console
        try await console.run { [prune, grace, device, storage, output] in
            var (options, reach) = (Producer.Options(), LinkOptions())
            storage.apply(to: &reach)
            options.device = device.device
            let (removed, kept) = try await Producer([], options: options).prune(
                prune, after: grace ?? Publishing().grace, reach)
            console.say("removed \(removed) object\(removed == 1 ? "" : "s") of \(removed + kept)")
            if output.json { Output.write(object: .event("pruned", ["removed": removed, "kept": kept])) }
        }
    }
}
