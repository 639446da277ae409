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
            on \(defaultAddress) if nothing else is said, until SIGINT or SIGTERM stops it. It goes on after SIGHUP: \
            there is nothing to read anew.

              ship-store receive --into inbox
              ship-store receive --into inbox --listen 127.0.0.1:7000 --once
              ship-store receive --into inbox --listen 0.0.0.0:7645 --pair
              ship-store receive --into inbox --from - < monday.shipment
              ship-store receive --into inbox --keep 5 --keep-for 7d
              ship-store receive --into inbox --model Recipes.momd
              ship-store receive --into inbox --user-version 5..7
              ship-store receive --into inbox --probe 'SELECT count(*) FROM recipe'

            With --json the standard output is taken: `--from -` reads what `send --to -` writes, which awaits no answer, and \
            refuses a sender that does.
            """)

    @Option(
        help: ArgumentHelp("The inbox: a folder, made if it is not there.", valueName: "folder"), completion: .directory
    )
    var into: String

    @Option(
        help: ArgumentHelp(
            "Listen here: HOST:PORT, port 0 for a free one, or unix:PATH. (default: \(defaultAddress))",
            valueName: "address"), transform: AddressArgument.read)
    var listen: AddressArgument?

    @Option(
        help: ArgumentHelp(
            "Receive what comes from here, and end: - (standard input), a file, unix:PATH, exec:COMMAND or HOST:PORT.",
            valueName: "endpoint"), completion: .file(), transform: EndpointArgument.read)
    var from: EndpointArgument?

    @Flag(
        help: """
            End after the first session that ships, with the exit status of the first shipment in it that failed. Who connects and \
            begins none, or may not ship, does not count.
            """)
    var once = false

    @Flag(
        help: """
            Show a code by which one more device can be trusted, for two minutes: `ship-store send --pair CODE` there.
            """)
    var pair = false

    @Flag(
        help: """
            Take shipments that no trusted device has signed, and old ones that have no number: you have seen to it \
            where they are from.
            """)
    var unsigned = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Let one shipment under this name bring another store than the one that is there; may be given again.",
            valueName: "name"),
        transform: StoreNameArgument.read)
    var replace: [StoreNameArgument] = []

    @OptionGroup var retention: RetentionArguments

    @OptionGroup(title: "Requirements") var required: RequirementArguments
    @OptionGroup(title: "Limits") var budget: BudgetArguments
    @OptionGroup(title: "Check options") var check: CheckArguments
    @OptionGroup(title: "Link options") var link: LinkArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    private static let defaultAddress = Endpoint.tcp(host: "127.0.0.1", port: Endpoint.defaultPort)

    func validate() throws {
        if listen != nil, from != nil { throw ValidationError("--listen and --from exclude each other") }
        if pair, from != nil { throw ValidationError("--pair and --from exclude each other") }
        if pair, link.insecure { throw ValidationError("--pair and --insecure exclude each other") }
        switch from?.endpoint {
        case nil, .tcp: break
        case .unix, .command, .standardStreams, .file:
            guard link.insecure else { break }
            throw ValidationError("--insecure is for TCP; what comes from elsewhere may need --unsigned")
        }
        if pair, output.isSilent {
            throw ValidationError("--pair and --quiet exclude each other: the code has to be seen, or --json tells it")
        }
        if pair, case .unix? = listen?.endpoint { throw ValidationError("--pair goes over TCP only") }
    }

    func run() async throws {
        let console = output.console
        var options = Consumer.Options()
        (options.kept, options.keptFor) = (retention.keep, retention.keepFor?.duration)
        options.probes = required.probe.map(\.probe)
        options.checking = check.options
        options.timeouts = link.timeouts
        var reach = link.linkOptions
        // Frames among the objects would be of no use to anybody.
        reach.standardOutputIsTaken = output.json
        options.trust = link.trust(console)
        options.unsigned = unsigned ? .taken : .asCarried
        options.replacing = Set(replace.map(\.name))
        options.emptied = required.allowEmpty ? .taken : .refused
        budget.apply(to: &options)
        budget.apply(to: &reach)
        let goesOn = from == nil && !once
        let reporter = ReceiveReporter(
            console, output.json ? .json : .none, failures: goesOn ? .told : .leftToTheEnd)
        // A listener that is told to stop has done what it was asked for.
        let whenStopped: ExitStatus? = goesOn ? .success : nil
        // And it does not live by its terminal: what it goes by, it reads whenever it matters.
        try await Running.run(console, whenStopped: whenStopped, whenHungUp: goesOn ? .isPassedOver : .stops) {
            [into, from, listen, once, pair, required, options, reach] in
            var options = options
            options.requirements = try required.requirements()
            let consumer = try Consumer(inbox: FilePath(into), options: options)
            if let from {
                _ = try await consumer.receive(from: from.endpoint, reach, report: reporter.report)
            } else {
                try await consumer.listen(
                    on: listen?.endpoint ?? Self.defaultAddress, once ? .once : .untilCancelled, reach,
                    pairingIn: pair ? PairingWindow() : nil
                ) { report in
                    // It may wait for days.
                    if case .listening = report.event { PlatformCalls.unmapProgram() }
                    reporter.report(report)
                }
            }
        }
    }
}
