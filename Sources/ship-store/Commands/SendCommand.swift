import ArgumentParser
import ShipStore
import ShipStoreNetwork
import SystemPackage

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Ship a consistent, compact copy of a live store, or of several.",
        usage: "ship-store send <store> ... --to <endpoint> [<options>]",
        discussion: """
            The store may be in use: its writers are not disturbed, and it is not changed. Over a link that goes both \
            ways the command succeeds only when the receiver says that the copy is installed and durable. What the \
            receiver holds already of an earlier shipment does not go again: the next one says what has changed.

            ENDPOINT is HOST:PORT, - (standard output), unix:PATH, exec:COMMAND (a child's standard streams), or the \
            path of a file, with a / in it or ending in .shipment, to keep the shipment for later. A shipment of that \
            name is replaced in one step, another file only with --force. HOST alone means port \(Endpoint.defaultPort).

              ship-store send Recipes.sqlite --to 127.0.0.1:7645
              ship-store send Recipes.sqlite --to - \\
                | ship-store receive --into inbox --from -
              ship-store send Recipes.sqlite \\
                --to 'exec:ssh watch ship-store receive --into inbox --from -'
              ship-store send Recipes.sqlite --to ./monday.shipment
              ship-store send Recipes.sqlite --for watch.holdings --to ./tuesday.shipment
              ship-store send Recipes.sqlite --since monday.shipment \\
                --to ./tuesday.shipment
              ship-store send Recipes.sqlite --to watch --dry-run
              ship-store send Recipes.sqlite Photos.sqlite Notes.sqlite --to watch
              ship-store send Recipes.sqlite --to watch --follow

            Several stores go one after the other, over one link. One that the receiver refuses, or that cannot be \
            copied, does not hold up the next; the exit status is that of the first that failed. Nothing goes if one is \
            not there at all, or is no store. A file gets all of them, or is not written.

            With --follow the command goes on: whenever a store has changed and is quiet, what has changed goes over the \
            same connection. It connects again whenever that breaks. SIGINT or SIGTERM ends it, and it exits with 0.

            What the receiver can do without need not travel; the manifest says what was left out:

              ship-store send Recipes.sqlite --to watch:7645 \\
                --strip-history --exclude ZDRAFT --without-external-over 2M
            """)

    @Argument(
        help: ArgumentHelp(
            "The store, or several: a SQLite file each, with its -wal and its external files beside it.",
            valueName: "store"), completion: .file())
    var stores: [FilePath]

    @Option(
        help: ArgumentHelp("Where the shipment goes.", valueName: "endpoint"), completion: .file(),
        transform: Endpoint.read)
    var to: Endpoint

    @Option(
        help: "The store's name at the receiver, if it is only one; without it, what the file's name suggests.",
        transform: StoreName.read)
    var name: StoreName?

    @Flag(help: "Let the store take the place of another one that was sent there under its name before.")
    var replace = false

    @Option(
        name: .customLong("meta"), parsing: .singleValue,
        help: ArgumentHelp("A pair that travels with the shipment; may be given again.", valueName: "key=value"),
        transform: StoreMetadata.readPair)
    var metadata: [StoreMetadata.Pair] = []

    @Option(
        help: ArgumentHelp(
            "Trust the receiver first, and be trusted by it: the code that `ship-store receive --pair` shows there.",
            valueName: "code"),
        transform: PairingCode.read)
    var pair: PairingCode?

    @Flag(
        help: """
            Sign what nobody answers, so that receivers know who made it; the device gets an identity, if it has none. \
            Without this, files are signed if it has one.
            """)
    var sign = false

    @Flag(
        help: """
            Neither use nor keep copies that receivers have acknowledged. Without this the newest one of each is kept, so that \
            the next shipment can say what differs from it: see `ship-store bases`.
            """)
    var noRemember = false

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Say what has changed since what the receiver holds, as `ship-store holdings` has written there; - for standard input.",
            valueName: "file"), completion: .file())
    var receiver: FilePath?

    @Option(
        help: ArgumentHelp(
            "Say what has changed since a whole shipment in a file, which the receiver has installed.",
            valueName: "shipment"),
        completion: .file())
    var since: FilePath?

    @Option(
        help: ArgumentHelp(
            "Try again for this long if the receiver cannot be reached, the connection breaks, or it is busy. (default: 0s)",
            valueName: "time"), transform: Duration.readInterval)
    var retry = Duration.zero

    @Flag(help: "Replace a file that is there and is no shipment; never one of the store's own.")
    var force = false

    @Flag(help: "Take the copy, say what would be sent and in how many bytes, and send nothing.")
    var dryRun = false

    @OptionGroup(title: "Following") var following: FollowArguments
    @OptionGroup(title: "How to send") var compression: CompressionArguments
    @OptionGroup(title: "Copy options") var copy: CopyArguments
    @OptionGroup(title: "What to leave out") var leaving: ProfileArguments
    @OptionGroup(title: "Link options") var link: LinkArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        if stores.count > 1, name != nil { throw ValidationError("--name is for one store") }
        var keys = Set<String>()
        for pair in metadata where !keys.insert(pair.key).inserted {
            throw ValidationError("--meta gives \(pair.key) twice")
        }
        if pair != nil {
            guard case .tcp = to else { throw ValidationError("--pair goes over TCP only") }
            if link.insecure { throw ValidationError("--pair and --insecure exclude each other") }
        }
        if link.peerName != nil, pair == nil { throw ValidationError("--peer-name says something only with --pair") }
        if sign {
            switch to {
            case .file, .standardStreams: break
            case .tcp, .unix, .command: throw ValidationError("--sign is for files and standard output")
            }
        }
        if receiver != nil || since != nil {
            switch to {
            case .file, .standardStreams: break
            case .tcp, .unix, .command:
                throw ValidationError(
                    "--for and --since are for files and standard output; elsewhere the receiver says what it holds")
            }
        }
        if retry > .zero {
            switch to {
            case .file, .standardStreams: throw ValidationError("--retry needs a receiver that answers")
            case .tcp, .unix, .command: break
            }
            if following.follow { throw ValidationError("--follow tries again for ever: --retry says nothing with it") }
        }
        if following.follow {
            switch to {
            case .file, .standardStreams: throw ValidationError("--follow needs a receiver that answers")
            case .tcp, .unix, .command: break
            }
            if dryRun { throw ValidationError("--follow and --dry-run exclude each other") }
        }
        if dryRun, pair != nil { throw ValidationError("--dry-run and --pair exclude each other") }
        if force {
            guard case .file = to else { throw ValidationError("--force is for files") }
        }
        if replace, noRemember { throw ValidationError("--replace says something only without --no-remember") }
        if let flaw = Manifest.firstFlaw(ofMetadata: pairs.mapValues { ForeignText($0) }) {
            throw ValidationError(flaw)
        }
        if output.json, to == .standardStreams {
            throw ValidationError("--json and --to - both want standard output")
        }
    }

    private var pairs: [String: String] {
        Dictionary(metadata.map { ($0.key, $0.value) }) { first, _ in first }
    }

    func run() async throws {
        let console = output.console
        var options = Producer.Options()
        options.name = name
        options.replaces = replace
        options.metadata = pairs
        options.effort = compression.level
        options.encoding = compression.encoding
        options.selfCheck = compression.selfCheck
        options.copy = copy.copyOptions(leavingOut: leaving)
        options.timeouts = link.timeouts
        var reach = link.linkOptions
        if force { reach.overwriting = .anything }
        options.trust = link.trust(console)
        options.device = link.device.device
        options.padding = compression.pad
        if !noRemember { options.memory = .standard }
        options.signsAlways = sign
        let reporter = SendReporter(
            console, writesJSON: output.json, to: to, leavingOut: options.copy.profile,
            isOneOfSeveral: stores.count > 1 || following.follow, isRehearsal: dryRun)
        let peerName = pair == nil ? nil : link.nameOfPeer(console)
        // For who follows, a signal is the regular end.
        let whenStopped: ExitStatus? = following.follow ? .success : nil
        try await console.run(whenStopped: whenStopped, isEndless: following.follow) {
            [stores, receiver, since, to, pair, peerName, link, dryRun, retry, following, options, reach] in
            var options = options
            options.holdings = try receiver.map { try HoldingsFile.read(at: $0) }
            options.earlier = since
            let producer = Producer(stores, options: options)
            if dryRun {
                _ = try await producer.rehearse(to: to, reach, report: reporter.report)
                return
            }
            if let pair {
                let peer = try await link.device.device.pair(
                    with: to, pair, calling: peerName, reach, options.timeouts)
                reporter.paired(peer)
            }
            if following.follow {
                try await producer.follow(to: to, following.following, reach, report: reporter.report)
            } else {
                _ = try await producer.send(to: to, reach, retryingFor: retry, report: reporter.report)
            }
        }
    }
}

/// How a shipment is made small.
struct CompressionArguments: ParsableArguments {
    @Option(
        help: """
            The effort of compression, from 1 to 9, the smallest; below 6 hardly any time is saved. auto follows the \
            link. (default: auto)
            """, completion: Effort.completion,
        transform: Effort.read)
    var level: Effort = .auto

    @Flag(help: "Send the store's pages as they are, compressed, and not its rows.")
    var plain = false

    @Flag(help: "Do not decode what is encoded before counting on it: the receiver alone finds what is wrong.")
    var noSelfCheck = false

    @Flag(
        help: """
            Round what is sent up to steps of 4,096 bytes, so that whoever sees how much goes over the line, and can write rows \
            into the store, learns less of what else is in it.
            """)
    var pad = false

    var encoding: PartEncoding { plain ? .blocks : .columns }
    var selfCheck: Bool { !noSelfCheck }
}
