import ArgumentParser
import ShipStore
import ShipStoreNetwork

/// How much of this device others may take.
struct BudgetArguments: ParsableArguments {
    private static let standard = (shipment: ShipmentBudget(), link: LinkOptions())
    private static let standardPrepareTimeout = Seconds(1800)

    @Option(
        help: ArgumentHelp(
            "Refuse stores of more than this: bytes, or with k, M or G, of 1000 each. (default: 16G)",
            valueName: "size"),
        transform: SizeArgument.read)
    var maxStore: SizeArgument?

    @Option(help: ArgumentHelp("Refuse stores with more external files than this.", valueName: "count"))
    var maxExternalFiles = standard.shipment.externalFileCount

    @Option(
        help: ArgumentHelp(
            "Refuse stores with more than this in external files, together. (default: 16G)", valueName: "size"),
        transform: SizeArgument.read)
    var maxExternal: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Refuse what would leave less than this free on the disk. (default: 1M)", valueName: "size"),
        transform: SizeArgument.read)
    var keepFree: SizeArgument?

    @Option(
        help: ArgumentHelp(
            """
            Give up on a sender that sends fewer bytes of the shipment a second than this, over a minute and a second for \
            each MB; 0 for as few as it likes.
            """, valueName: "bytes"))
    var leastRate = Timeouts().leastRate

    @Option(
        help: ArgumentHelp(
            "Give up on a sender that has not finished its copy of the store after this long. (default: \(standardPrepareTimeout))",
            valueName: "seconds"), transform: Seconds.read)
    var prepareTimeout: Seconds = standardPrepareTimeout

    @Option(
        help: ArgumentHelp(
            "Serve this many senders at a time, half as many of one device; further ones wait until there is a place.",
            valueName: "count"))
    var maxConnections = standard.link.maximumConnections

    @Option(
        help: ArgumentHelp(
            """
            Hear this many at a time who are not known yet, also those who are there to pair; for one more the one that has \
            waited longest is closed.
            """, valueName: "count"))
    var maxUnknown = standard.link.maximumHandshakes

    @Option(
        help: ArgumentHelp("Of those, this many from one network address.", valueName: "count"))
    var maxUnknownPerAddress = standard.link.maximumHandshakesPerAddress

    func validate() throws {
        for (option, value) in [
            ("--max-external-files", maxExternalFiles), ("--least-rate", leastRate),
        ] where value < 0 { throw ValidationError("\(option) takes a number from 0 on") }
        for (option, value) in [
            ("--max-connections", maxConnections), ("--max-unknown", maxUnknown),
            ("--max-unknown-per-address", maxUnknownPerAddress),
        ] where value < 1 { throw ValidationError("\(option) takes a number from 1 on") }
    }

    func apply(to options: inout Consumer.Options) {
        if let maxStore { options.budget.storeSize = maxStore.bytes }
        if let maxExternal { options.budget.externalFilesSize = maxExternal.bytes }
        if let keepFree { options.keptFree = keepFree.bytes }
        options.budget.externalFileCount = maxExternalFiles
        options.timeouts.leastRate = leastRate
        options.timeouts.preparing = prepareTimeout.duration
    }

    func apply(to link: inout LinkOptions) {
        link.maximumConnections = maxConnections
        link.maximumHandshakes = maxUnknown
        link.maximumHandshakesPerAddress = maxUnknownPerAddress
    }
}
