import ArgumentParser
import ShipStore
import ShipStoreNetwork
import Synchronization
import SystemPackage

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Ship a consistent, compact copy of a live store, or of several.",
        usage: """
            ship-store send <store> ... --to <endpoint> [<options>]
            ship-store send <store> ... --listen <address> [<options>]
            ship-store send --inbox <inbox> [<name> ...] --to <endpoint> ...
            """,
        discussion: """
            The store may be in use: its writers are not disturbed, and it is not changed. Over a link that goes both \
            ways the command succeeds only when the receiver says that the copy is installed and durable. What the \
            receiver holds already of an earlier shipment does not go again: the next one says what has changed.

            ENDPOINT is HOST:PORT, - (standard output), unix:PATH, exec:COMMAND (a child's standard streams), dir:PATH \
            or s3://BUCKET/PREFIX (a publication, for any number of receivers), or the path of a file, with a / in it or ending in .shipment, to keep the shipment for later. A shipment of that \
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
              ship-store send Recipes.sqlite --to dir:public/kitchen --follow
              ship-store send Recipes.sqlite --listen 0.0.0.0:7645 --follow

            Several stores go one after the other, over one link. One that the receiver refuses, or that cannot be \
            copied, does not hold up the next; the exit status is that of the first that failed. Nothing goes if one is \
            not there at all, or is no store. A file gets all of them, or is not written.

            With --follow the command goes on: whenever a store has changed and is quiet, what has changed goes over the \
            same connection. It connects again whenever that breaks. SIGINT, SIGTERM or SIGHUP ends it, and it exits with 0, or with the \
            status of the first store that is not followed any more.

            With --listen receivers connect, with `ship-store receive --from`: any number of those that this device trusts, \
            and each gets the stores that it may have. One copy is taken for all of them, and each is sent what it does \
            not hold. The command goes on until SIGINT or SIGTERM ends it, also after SIGHUP, and exits with 0.

            With --inbox it passes on what an inbox holds, as it was signed by the device that made it: receivers trust \
            that device for the store, and this one with the delivery alone. See `ship-store receive --relay`.

              ship-store send --inbox inbox Recipes --to watch --follow
              ship-store send --inbox inbox --listen 0.0.0.0:7645 --follow

            What the receiver can do without need not travel; the manifest says what was left out:

              ship-store send Recipes.sqlite --to watch:7645 \\
                --strip-history --exclude ZDRAFT --without-external-over 2M
            """)

    @Argument(
        help: ArgumentHelp(
            """
            The store, or several: a SQLite file each, with its -wal and its external files beside it. With --inbox: the names of \
            stores. (default: all)
            """,
            valueName: "store"), completion: .file())
    var stores: [FilePath] = []

    @Option("Where the shipment goes.", .endpoint) var to: Endpoint?

    @Option("Let receivers come for it here: HOST:PORT, port 0 for a free one, or unix:PATH.", .listening)
    var listen: Endpoint?

    @Flag(
        help: """
            With --listen: end after the first session of a receiver that may have something, with the exit status of the first \
            store in it that did not arrive.
            """)
    var once = false

    @Option("The store's name at the receiver, if it is only one; without it, what the file's name suggests.", .name)
    var name: StoreName?

    @Flag(help: "Let the store take the place of another one that was sent there under its name before.")
    var replace = false

    @Option(name: .customLong("meta"), "A pair that travels with the shipment; may be given again.", .pair)
    var metadata: [StoreMetadata.Pair] = []

    @Option(
        defaultAsFlag: Pairing.showing,
        help: ArgumentHelp(
            """
            Trust the receiver first, and be trusted by it: the code that `ship-store receive --pair` shows there. With \
            --listen: show a code, for two minutes, by which one more receiver can be trusted.
            """, valueName: "code"), transform: Pairing.read)
    var pair: Pairing?

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
            valueName: "file"), completion: .file(), transform: FilePath.readFile)
    var receiver: FilePath?

    @Option(
        help: ArgumentHelp(
            "Say what has changed since a whole shipment in a file, which the receiver has installed.",
            valueName: "shipment"),
        completion: .file())
    var since: FilePath?

    @Option(
        "Try again for this long if the receiver cannot be reached, the connection breaks, or it is busy. (default: 0s)",
        .interval)
    var retry = Duration.zero

    @Flag(help: "Replace a file that is there and is no shipment; never one of the store's own.")
    var force = false

    @Flag(help: "Take the copy, say what would be sent and in how many bytes, and send nothing. Not for publications.")
    var dryRun = false

    @OptionGroup(title: "Passing on") var passing: PassingArguments
    @OptionGroup(title: "Following") var following: FollowArguments
    @OptionGroup(title: "Listening") var listening: ListenArguments
    @OptionGroup(title: "How to send") var compression: CompressionArguments
    @OptionGroup(title: "Copy options") var copy: CopyArguments
    @OptionGroup(title: "What to leave out") var leaving: ProfileArguments
    @OptionGroup(title: "Link options") var link: LinkArguments
    @OptionGroup(title: "Publications") var publishing: PublishingArguments
    @OptionGroup(title: "Monitoring") var monitoring: MonitoringArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        try passing.validate(for: stores, to: to)
        if passing.inbox != nil,
            name != nil || replace || !metadata.isEmpty || leaving.profile != CopyProfile() || copy.isOfLiveStores
        {
            throw ValidationError(
                "with --inbox shipments go as they were signed: --name, --replace, --meta, --linked, --allow-missing-external and what leaves "
                    + "something out say nothing")
        }
        if stores.count > 1, name != nil { throw ValidationError("--name is for one store") }
        var keys = Set<String>()
        for pair in metadata where !keys.insert(pair.key).inserted {
            throw ValidationError("--meta gives \(pair.key) twice")
        }
        if to != nil, listen != nil { throw ValidationError("--to and --listen exclude each other") }
        if to == nil, listen == nil {
            throw ValidationError(
                "say where the shipment goes: --to ENDPOINT, or --listen ADDRESS for who comes for it")
        }
        try listening.validate(isListening: listen != nil)
        try publishing.validate(for: to, isFollowing: following.follow)
        if once, listen == nil { throw ValidationError("--once says something only with --listen") }
        try Pairing.validate(pair, link, output, over: to ?? listen, isListening: to == nil)
        switch to ?? listen {
        case nil, .tcp: break
        case .unix, .command, .standardStreams, .file, .folder, .web, .bucket:
            if link.insecure { throw ValidationError("--insecure is for TCP") }
        }
        let isPublication =
            switch to {
            case .folder, .web, .bucket: true
            case nil, .tcp, .unix, .command, .file, .standardStreams: false
            }
        let isAnswered =
            switch to {
            case .file, .standardStreams, .folder, .web, .bucket: false
            case nil, .tcp, .unix, .command: true
            }
        if passing.relay, !isAnswered {
            throw ValidationError("--relay is for receivers that answer; --sign signs files")
        }
        if sign, isAnswered || isPublication { throw ValidationError("--sign is for files and standard output") }
        if isAnswered || isPublication, receiver != nil || since != nil {
            throw ValidationError(
                "--for and --since are for files and standard output; elsewhere the receiver says what it holds")
        }
        if retry > .zero {
            if !isAnswered { throw ValidationError("--retry needs a receiver that answers") }
            if listen != nil { throw ValidationError("--retry says nothing with --listen: the receiver tries again") }
            if following.follow { throw ValidationError("--follow tries again for ever: --retry says nothing with it") }
        }
        if following.follow {
            if !isAnswered, !isPublication { throw ValidationError("--follow needs a receiver that answers") }
            if dryRun { throw ValidationError("--follow and --dry-run exclude each other") }
            if publishing.rollout != nil {
                throw ValidationError("--rollout and --follow exclude each other: a rollout is of one state")
            }
            if following.memory != nil,
                passing.inbox != nil || isPublication || noRemember || copy.temporaryFolder != nil
            {
                throw ValidationError(
                    "--memory is for copies that are remembered, in their usual place: it says nothing with --inbox, --no-remember, "
                        + "--temporary-folder or a publication")
            }
        }
        if dryRun, listen != nil { throw ValidationError("--listen and --dry-run exclude each other") }
        if dryRun, monitoring.metrics != nil { throw ValidationError("--dry-run and --metrics exclude each other") }
        if dryRun, pair != nil { throw ValidationError("--dry-run and --pair exclude each other") }
        if compression.limitRate != nil, case .file = to {
            throw ValidationError("--limit-rate is for links: a file is written as fast as it can be")
        }
        if force {
            guard case .file = to else { throw ValidationError("--force is for files") }
        }
        if isPublication, dryRun { throw ValidationError("--dry-run is for links and files, and not for publications") }
        if isPublication, compression.pad { throw ValidationError("--pad says nothing of publications yet") }
        if isPublication, compression.limitRate != nil {
            throw ValidationError("--limit-rate is for links to a receiver")
        }
        if replace, noRemember { throw ValidationError("--replace says something only without --no-remember") }
        if let flaw = Manifest.firstFlaw(ofMetadata: StoreMetadata.dictionary(metadata).mapValues { ForeignText($0) }) {
            throw ValidationError(flaw)
        }
        if output.json, to == .standardStreams {
            throw ValidationError("--json and --to - both want standard output")
        }
    }

    func run() async throws {
        // For who follows, or listens, a signal is the regular end.
        let goesOn = following.follow || listen != nil && !once
        let console = output.console(monitoring.format(goesOn: goesOn))
        var options = Producer.Options()
        options.name = name
        options.replaces = replace
        options.metadata = StoreMetadata.dictionary(metadata)
        options.effort = compression.level
        options.encoding = compression.encoding
        options.selfCheck = compression.selfCheck
        options.copy = copy.copyOptions(leavingOut: leaving)
        options.timeouts = link.timeouts
        var reach = link.linkOptions
        if force { reach.overwriting = .anything }
        publishing.apply(to: &reach)
        options.trust = link.trust(console)
        options.device = link.device.device
        options.padding = compression.pad
        options.rateLimit = compression.rateLimit
        if !noRemember { options.memory = .standard }
        options.signsAlways = sign
        options.signsForRelays = passing.relay
        // Why the first of the stores that are not followed any more is not.
        let loss = Mutex<ShipmentError?>(nil)
        let metrics = monitoring.metrics.map { Metrics(.sent, at: $0) }
        let reporter = SendReporter(
            console: console, writesJSON: output.json, endpoint: to, profile: options.copy.profile,
            isOneOfSeveral: stores.count > 1 || stores.isEmpty || following.follow || listen != nil,
            isRehearsal: dryRun, metrics: metrics, bar: ProgressBar(on: console)
        ) { end in loss.withLock { $0 = $0 ?? end } }
        let peerName = pair == nil ? nil : link.nameOfPeer(console)
        listening.apply(to: &reach)
        try await console.run(
            whenStopped: goesOn ? .success : nil, stopsWhenHungUp: listen == nil || once, isEndless: goesOn,
            losing: loss.withLock(\.self)
        ) { [self, options, reach] in
            var options = options
            options.holdings = try receiver.map { try HoldingsFile.read(at: $0) }
            options.earlier = since
            options.checking = CheckArguments.usualOptions
            if usesMemory { options.memory?.warnIfUnusable(on: console) }
            let producer = passing.producer(of: stores, options)
            guard let metrics else { return try await ship(producer, peerName, reach, reporter) }
            try await metrics.whileKept(console) { try await ship(producer, peerName, reach, reporter) }
        }
    }

    /// Whether shipments can build on what is remembered.
    private var usesMemory: Bool {
        switch to {
        case .file, .standardStreams: receiver != nil
        case nil, .tcp, .unix, .command, .folder, .web, .bucket: passing.inbox == nil
        }
    }

    private func ship(
        _ producer: Producer, _ peerName: PeerName?, _ reach: LinkOptions, _ reporter: SendReporter
    ) async throws {
        guard let to else { return try await serve(producer, peerName, reach, reporter) }
        if dryRun {
            _ = try await producer.rehearse(to: to, reach, report: reporter.report)
            return
        }
        if case .with(let code) = pair {
            let peer = try await link.device.device.pair(
                with: to, code, trustingAs: .receiver, calling: peerName, reach, link.timeouts)
            reporter.report(.listener(.paired(peer)))
        }
        if following.follow {
            ServiceManager.tell(.ready)
            try await producer.follow(
                to: to, following.following, publishing: publishing.publishing, reach, report: reporter.report)
        } else {
            _ = try await producer.send(
                to: to, publishing: publishing.publishing, reach, retryingFor: retry, report: reporter.report)
        }
    }

    /// Waits for receivers.
    private func serve(
        _ producer: Producer, _ peerName: PeerName?, _ reach: LinkOptions, _ reporter: SendReporter
    ) async throws {
        guard let listen else { return }
        try await producer.listen(
            on: listen, following: following.follow ? following.following : nil, once ? .once : .untilCancelled, reach,
            pairingIn: pair == nil ? nil : PairingWindow(calling: peerName)
        ) { report in
            if case .listener(.listening) = report.event { ServiceManager.tell(.ready) }
            reporter.report(report.event, in: report.session)
        }
    }
}

/// How a shipment is made small.
struct CompressionArguments: ParsableArguments {
    @Option(
        help: """
            The effort of compression, from 1 to 9, the smallest; below 6 hardly any time is saved. auto follows the link. (default: auto)
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

    @Option(
        help: ArgumentHelp(
            "Send no more bytes a second than this, 1k or more, to all receivers together, as in 500k or 2M. (default: as many as the link takes)",
            valueName: "bytes"),
        transform: Int64.readSize)
    var limitRate: Int64?

    func validate() throws {
        if let limitRate, limitRate < 1000 { throw ValidationError("--limit-rate takes 1k or more") }
    }

    var rateLimit: RateLimit? { limitRate.map { RateLimit(bytesPerSecond: Int(clamping: $0)) } }
    var encoding: PartEncoding { plain ? .blocks : .columns }
    var selfCheck: Bool { !noSelfCheck }
}
