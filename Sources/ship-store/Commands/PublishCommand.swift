import ArgumentParser
import ShipStore
import ShipStoreNetwork
import SystemPackage

struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Look after a publication: prune it, halt or release its stores, or hand it over to another device.",
        discussion: """
            Stores are published by `ship-store send STORE --to dir:PATH`, and received by any number of receivers, with \
            `ship-store receive --into DIR --from https://HOST/PATH`, from whatever web server shows that folder. With \
            --follow the sender removes what nobody needs by itself; otherwise --prune does.

              ship-store publish --prune dir:public/kitchen

            After --halt no receiver takes anything of these stores, or of all that are there, whatever is published, until --resume. \
            Each takes one head.

              ship-store publish --halt dir:public/kitchen Recipes
              ship-store publish --resume dir:public/kitchen

            What `send --rollout` has published for some receivers first, all take after --release.

              ship-store publish --release dir:public/kitchen Recipes

            --next-key names the device that goes on with the publication, by the id that `ship-store identity` says there. It sends to \
            the same place then, and receivers follow it without being told. This one publishes nothing more there.

              ship-store publish --next-key ID dir:public/kitchen
            """)

    @Option("Remove objects that no shipment needs any more from here: dir:PATH or s3://BUCKET/PREFIX.", .publication)
    var prune: Endpoint?

    @Option(
        """
        With --prune: keep them this long after the first head that does not need them, for who has just read another, and longer than a shipment takes \
        that is being published meanwhile. (default: 24h)
        """,
        .age)
    var grace: Duration?

    @Option("Have no receiver take anything of what is published here.", .publication) var halt: Endpoint?

    @Option("Have receivers take what is published here again.", .publication) var resume: Endpoint?

    @Option("Have all receivers take what is being rolled out here.", .publication) var release: Endpoint?

    @Option(
        help: ArgumentHelp(
            "Name the device that goes on with the publication: its id, or the name of a trusted one.",
            valueName: "id or name"))
    var nextKey: String?

    @Argument(
        help: ArgumentHelp(
            "With --next-key: the publication. With --halt, --resume and --release: the stores. (default: all)",
            valueName: "endpoint or name"))
    var operands: [String] = []

    @OptionGroup var device: DeviceArguments
    @OptionGroup(title: "Publications") var storage: StorageArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    /// The work to do.
    private enum Action {
        case prune(Endpoint, Duration)
        case halt(Endpoint, Set<StoreName>)
        case resume(Endpoint, Set<StoreName>)
        case release(Endpoint, Set<StoreName>)
        case handOver(Endpoint, String)

        var endpoint: Endpoint {
            switch self {
            case .prune(let place, _), .halt(let place, _), .resume(let place, _), .release(let place, _),
                .handOver(let place, _):
                place
            }
        }
    }

    private func action() throws -> Action {
        if grace != nil, prune == nil { throw ValidationError("--grace says something only with --prune") }
        switch (prune, halt, resume, release, nextKey) {
        case (let place?, nil, nil, nil, nil):
            guard operands.isEmpty else { throw ValidationError("--prune takes one publication, and no names") }
            return .prune(place, grace ?? Publishing().grace)
        case (nil, let place?, nil, nil, nil): return .halt(place, Set(try operands.map(StoreName.read)))
        case (nil, nil, let place?, nil, nil): return .resume(place, Set(try operands.map(StoreName.read)))
        case (nil, nil, nil, let place?, nil): return .release(place, Set(try operands.map(StoreName.read)))
        case (nil, nil, nil, nil, let id?):
            guard let place = operands.first, operands.count == 1 else {
                throw ValidationError("--next-key takes an id and one publication: --next-key ID dir:PATH")
            }
            return .handOver(try Endpoint.read(place), id)
        default: throw ValidationError("publish takes one of --prune, --halt, --resume, --release and --next-key")
        }
    }

    func validate() throws { try storage.validate(for: try action().endpoint) }

    func run() async throws {
        try await output.run { [action = try action(), device = device.device, storage, output] console in
            var (options, reach) = (Producer.Options(), LinkOptions())
            storage.apply(to: &reach)
            options.device = device
            let producer = Producer([], options: options)
            switch action {
            case .prune(let place, let grace):
                _ = try await producer.prune(place, after: grace, reach) { removed, kept in
                    console.say("removed \(removed) object\(removed == 1 ? "" : "s") of \(removed + kept)")
                    if output.json { Output.write(.event("pruned", ["removed": removed, "kept": kept])) }
                }
            case .halt(let place, let names):
                Self.tell("halted", try await producer.halt(place, names, reach), at: place, console, output)
            case .resume(let place, let names):
                Self.tell("still halted", try await producer.resume(place, names, reach), at: place, console, output)
            case .release(let place, let names):
                let (left, halted) = try await producer.release(place, names, reach)
                console.say(
                    left.isEmpty
                        ? "what is at \(place) is for all receivers"
                        : "still being rolled out at \(place): \(left.words)")
                if !halted.isEmpty {
                    console.warn(
                        "no receiver takes \(halted.words) until `ship-store publish --resume \(inShell: FilePath("\(place)"))`"
                    )
                }
                if output.json { Output.write(.event("released", ["rollingOut": left.map(\.text)])) }
            case .handOver(let place, let text):
                let id = try DeviceIdentifier.read(text, knownTo: device)
                try await producer.handOver(place, to: id, reach)
                console.say("\(place) goes on with \(id)")
                if output.json { Output.write(.event("handed-over", ["to": id])) }
            }
        }
    }

    private static func tell(
        _ words: PrintableText, _ halted: [StoreName], at place: Endpoint, _ console: Console, _ output: OutputOptions
    ) {
        console.say(
            halted.isEmpty ? "from now on no store is halted at \(place)" : "\(words) at \(place): \(halted.words)")
        if output.json { Output.write(.event("halted", ["names": halted.map(\.text)])) }
    }
}

extension [StoreName] {
    fileprivate var words: String { map(\.text).joined(separator: ", ") }
}
