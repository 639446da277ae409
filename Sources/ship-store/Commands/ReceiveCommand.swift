import ArgumentParser
import ShipStore
import ShipStoreNetwork
import StoreFiles
import SystemPackage

struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive shipments into an inbox, verify them, and install each in one step.",
        usage: "ship-store receive --into <folder> [<options>]",
        discussion: """
            What is installed can be opened as INBOX/NAME.sqlite, read-only; a new shipment replaces it in one step, and \
            readers keep what they have open. Without --from the command listens, \
            on \(defaultAddress) if nothing else is said, until SIGINT or SIGTERM stops it; the second one \
            ends it at once. It goes on after SIGHUP, also with --follow: what changes in the list of trusted devices counts at once anyway. With --from HOST:PORT it connects to a sender that listens.

              ship-store receive --into inbox
              ship-store receive --into inbox --listen 127.0.0.1:7000 --once
              ship-store receive --into inbox --listen 0.0.0.0:7645 --pair
              ship-store receive --into inbox --from phone --follow
              ship-store receive --into inbox --from https://shop.example/kitchen
              ship-store receive --into inbox --from - < monday.shipment
              ship-store receive --into inbox --serve 127.0.0.1:7646
              ship-store receive --into inbox --keep 5 --keep-for 7d
              ship-store receive --into inbox --model Recipes.momd
              ship-store receive --into inbox --user-version 5..7
              ship-store receive --into inbox --probe 'SELECT count(*) FROM recipe'

            With --json the standard output is taken: `--from -` reads what `send --to -` writes, which awaits no answer, and \
            refuses a sender that does.
            """)

    @Option("The inbox: a folder, made if it is not there.", .folder) var into: FilePath

    @Option("Listen here: HOST:PORT, port 0 for a free one, or unix:PATH. (default: \(defaultAddress))", .listening)
    var listen: Endpoint?

    @Option(
        """
        Receive what comes from here, and end: - (standard input), a file, unix:PATH, exec:COMMAND, HOST:PORT, or a \
        publication, https://HOST/PATH, s3://BUCKET/PREFIX or dir:PATH.
        """, .endpoint)
    var from: Endpoint?

    @Flag(
        help: """
            End after the first session that ships, with the exit status of the first shipment in it that failed. Who connects and \
            begins none, or may not ship, does not count.
            """)
    var once = false

    @Flag(
        help: """
            With --from: go on. Wait for every change that a sender with --follow ships, and connect again whenever the connection \
            breaks, until a signal ends it.
            """)
    var follow = false

    @Option("With --follow: how often to look whether something new is published. (default: 2s)", .interval)
    var poll: Duration?

    @Flag(
        help:
            "With --follow: go on also after what time alone does not mend, such as a sender that does not trust this device."
    )
    var keepTrying = false

    @Option(
        defaultAsFlag: Pairing.showing,
        help: ArgumentHelp(
            """
            Show a code by which one more device can be trusted, for two minutes: `ship-store send --pair CODE` there. With \
            --from: the code that `ship-store send --listen --pair` shows there.
            """, valueName: "code"), transform: Pairing.read)
    var pair: Pairing?

    @Flag(
        help: """
            Take shipments that no trusted device has signed, and old ones that have no number: you have seen to it where they are from.
            """)
    var unsigned = false

    @Flag(
        help:
            "Ask senders with `send --relay` to sign what they ship, so that `ship-store send --inbox` can pass it on from here."
    )
    var relay = false

    @Option(
        help: ArgumentHelp(
            "Let one shipment under this name bring another store than the one that is there; may be given again.",
            valueName: "name"), completion: .stores,
        transform: StoreName.read)
    var replace: [StoreName] = []

    @OptionGroup var retention: RetentionArguments

    @OptionGroup(title: "Requirements") var required: RequirementArguments
    @OptionGroup(title: "Limits") var budget: BudgetArguments
    @OptionGroup(title: "Listening") var listening: ListenArguments
    @OptionGroup(title: "Check options") var check: CheckArguments
    @OptionGroup(title: "Link options") var link: LinkArguments
    @OptionGroup(title: "Publications") var storage: StorageArguments
    @OptionGroup(title: "Monitoring") var monitoring: MonitoringArguments
    @OptionGroup(title: "Status page") var serving: ServingArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    private static let defaultAddress = Endpoint.tcp(host: "127.0.0.1", port: Endpoint.defaultPort)

    func validate() throws {
        try storage.validate(for: from)
        if listen != nil, from != nil { throw ValidationError("--listen and --from exclude each other") }
        if once, from != nil {
            throw ValidationError("--once is for receivers that listen: with --from there is one session")
        }
        try listening.validate(isListening: from == nil)
        // With port 0 each gets one.
        if from == nil, case .tcp(_, 1...)? = serving.serve, serving.serve == listen ?? Self.defaultAddress {
            throw ValidationError("--listen and --serve need an address each")
        }
        try Pairing.validate(pair, link, output, over: from ?? listen ?? Self.defaultAddress, isListening: from == nil)
        switch from {
        case .tcp, .unix, .folder, .web, .bucket: break
        case nil, .command, .standardStreams, .file:
            if follow {
                throw ValidationError(
                    "--follow says something only with --from HOST:PORT, unix:PATH, or with a publication")
            }
        }
        switch from {
        case .folder, .web, .bucket:
            if poll != nil, !follow { throw ValidationError("--poll says something only with --follow") }
            if let poll, poll < .milliseconds(10) { throw ValidationError("--poll takes 10ms or more") }
        case nil, .tcp, .unix, .command, .standardStreams, .file:
            if poll != nil {
                throw ValidationError("--poll is for publications: https://HOST/PATH, s3://BUCKET/PREFIX or dir:PATH")
            }
        }
        if keepTrying, !follow { throw ValidationError("--keep-trying says something only with --follow") }
        switch from {
        case nil, .tcp: break
        case .unix, .command, .standardStreams, .file, .folder, .web, .bucket:
            guard link.insecure else { break }
            throw ValidationError("--insecure is for TCP; what comes from elsewhere may need --unsigned")
        }
    }

    func run() async throws {
        let goesOn = from == nil ? !once : follow
        let console = output.console(monitoring.format(goesOn: goesOn))
        var options = Consumer.Options()
        options.hint = { $0.hint }
        (options.kept, options.keptFor) = (retention.keep, retention.keepFor)
        options.probes = required.probe
        options.checking = check.options
        options.timeouts = link.timeouts
        var reach = link.linkOptions
        storage.apply(to: &reach)
        // No frames go among the JSON objects.
        reach.standardOutputIsTaken = output.json
        options.trust = link.trust(console)
        options.takesUnsigned = unsigned
        options.wantsSignatures = relay
        options.replacing = Set(replace)
        options.allowsEmpty = required.allowEmpty
        budget.apply(to: &options)
        listening.apply(to: &reach)
        let hasFigures = monitoring.metrics != nil || serving.serve != nil
        let metrics = hasFigures ? Metrics(.received, at: monitoring.metrics, of: Inbox(at: into)) : nil
        let reporter = ReceiveReporter(console, writesJSON: output.json, tellsFailures: goesOn, metrics)
        // For a listener, a signal is the regular end.
        let whenStopped: ExitStatus? = goesOn ? .success : nil
        let peerName = pair == nil ? nil : link.nameOfPeer(console)
        // Over streams the sender decides how long a session stays.
        let isEndless =
            switch from {
            case nil: !once
            case .command, .standardStreams: true
            case .tcp, .unix, .file, .folder, .web, .bucket: follow
            }
        // A listener outlives its terminal, and has no configuration to read again.
        try await console.run(whenStopped: whenStopped, stopsWhenHungUp: !goesOn, isEndless: isEndless) {
            [self, options, reach] in
            var options = options
            options.requirements = try required.requirements()
            let consumer = try Consumer(inbox: into, options: options)
            try await consumer.leavingNoEmptyInbox(isListening: from == nil) {
                guard let metrics else { return try await receive(with: consumer, peerName, reach, reporter) }
                let pages = StatusPages(of: into, metrics, knownTo: link.device.device)
                try await metrics.whileKept(console) {
                    try await serving.whileServing(
                        pages, console, writesJSON: output.json, within: reach.connectTimeout
                    ) {
                        try await receive(with: consumer, peerName, reach, reporter)
                    }
                }
            }
        }
    }

    private func receive(
        with consumer: Consumer, _ peerName: PeerName?, _ reach: LinkOptions, _ reporter: ReceiveReporter
    ) async throws {
        if let from {
            if case .with(let code) = pair {
                let peer = try await link.device.device.pair(
                    with: from, code, trustingAs: .sender, calling: peerName, reach, consumer.options.timeouts)
                reporter.report(ReceiveReport(.listener(.paired(peer))))
            }
            if follow {
                ServiceManager.tell(.ready)
                try await consumer.follow(
                    from: from, every: poll ?? .seconds(2), keepsTrying: keepTrying, reach, report: reporter.report)
            } else {
                _ = try await consumer.receive(from: from, reach, report: reporter.report)
            }
        } else {
            try await consumer.listen(
                on: listen ?? Self.defaultAddress, once ? .once : .untilCancelled, reach,
                pairingIn: pair == nil ? nil : PairingWindow(calling: peerName)
            ) { report in
                if case .listener(.listening) = report.event {
                    ServiceManager.tell(.ready)
                    // A listener may wait for days, so it gives back memory.
                    PlatformCalls.unmapProgram()
                }
                reporter.report(report)
            }
        }
    }
}

extension Consumer {
    /// A path that was mistyped, or nobody who answers, makes no inbox: in one, other commands put nothing. A listener that a signal
    /// ends has had one.
    func leavingNoEmptyInbox<Value: Sendable>(
        isListening: Bool = false, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            if !isListening || !Task.isCancelled { removeInboxIfUnused() }
            throw error
        }
    }
}

/// The requirements on what a receiver lets in.
struct RequirementArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Refuse stores that are not of this Core Data model: a .momd, its VersionInfo.plist, or a JSON of entity \
            hashes. Repeat it for several; one must match, in any of its versions.
            """, valueName: "path"), completion: .file())
    var model: [FilePath] = []

    @Flag(help: "With --model: a store that has only some of a model's entities is welcome too.")
    var modelSubset = false

    @Option(
        help: ArgumentHelp(
            """
            Refuse stores of another schema: 64 digits, as `ship-store list --json` shows them. Repeat it for several.
            """, valueName: "digest"), transform: ContentDigest.read)
    var schemaDigest: [ContentDigest] = []

    @Option(
        help: ArgumentHelp("Refuse stores of another user_version: N, or A..B.", valueName: "range"),
        transform: ClosedRange<Int32>.readUserVersion)
    var userVersion: ClosedRange<Int32>?

    @Option(
        help: ArgumentHelp(
            """
            Ask every new store this before it becomes current: one statement that only reads. Its first row must begin \
            with a value that is not 0 or NULL. Repeat it for several.
            """, valueName: "sql"), transform: StoreProbe.read)
    var probe: [StoreProbe] = []

    @Flag(
        help: """
            Take a store without a row in place of one with rows, where no identity says that it is the same store: a queue may be empty.
            """)
    var allowEmpty = false

    func validate() throws {
        if modelSubset, model.isEmpty { throw ValidationError("--model-subset says something only with --model") }
    }

    /// Reads the models.
    func requirements() throws(ShipmentError) -> StoreRequirements {
        var requirements = StoreRequirements()
        requirements.models = try ShipmentError.wrapping { try model.flatMap { try EntityModel.all(in: $0) } }
        requirements.takesModelSubset = modelSubset
        requirements.schemaDigests = schemaDigest
        requirements.userVersions = userVersion
        return requirements
    }
}

extension ContentDigest {
    @Sendable fileprivate static func read(_ text: String) throws -> ContentDigest {
        guard let digest = ContentDigest(hex: text.lowercased()) else {
            throw ValidationError("a digest is 64 hexadecimal digits")
        }
        return digest
    }
}

extension ClosedRange<Int32> {
    /// Reads `7`, or `5..7` for 5, 6 and 7.
    @Sendable fileprivate static func readUserVersion(_ text: String) throws -> ClosedRange<Int32> {
        let ends = text.split(separator: "..", maxSplits: 1, omittingEmptySubsequences: false).map { Int32($0) }
        guard let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last else {
            throw ValidationError("a user_version is a number of 32 bits, or two with .. between them, the lower first")
        }
        return first...last
    }
}

extension StoreProbe {
    @Sendable fileprivate static func read(_ text: String) throws -> StoreProbe {
        do throws(StoreProbe.Flaw) {
            return try StoreProbe(text)
        } catch {
            throw ValidationError(error.words)
        }
    }
}

extension StoreProbe.Flaw {
    fileprivate var words: String {
        switch self {
        case .empty: "there is no statement in it"
        case .severalStatements: "a probe is one statement"
        case .writes: "a probe only reads"
        case .givesNoRows: "a probe is a statement that gives rows"
        case .hasParameters: "a probe has no parameters"
        case .syntax(let words): "SQLite does not understand it: \(words)"
        }
    }
}
