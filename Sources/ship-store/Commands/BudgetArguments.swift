import ArgumentParser
import ShipStore

/// How much of this device others may take.
struct BudgetArguments: ParsableArguments {
    private static let standard = Consumer.Options()

    @Option(
        "Refuse stores of more than this: bytes, or with k, M or G, of 1000 each. (default: \(standard.budget.storeSize.asSize))",
        .size)
    var maxStore = standard.budget.storeSize

    @Option(help: ArgumentHelp("Refuse stores with more external files than this.", valueName: "count"))
    var maxExternalFiles = standard.budget.externalFileCount

    @Option(
        "Refuse stores with more than this in external files, together. (default: \(standard.budget.externalFilesSize.asSize))",
        .size)
    var maxExternal = standard.budget.externalFilesSize

    @Option(help: ArgumentHelp("Refuse a device's stores beyond this many.", valueName: "count"))
    var maxStoresPerDevice = standard.budget.storesPerDevice

    @Option("Refuse what would leave less than this free on the disk. (default: \(standard.keptFree.asSize))", .size)
    var keepFree = standard.keptFree

    @Option(
        help: ArgumentHelp(
            """
            Give up on a sender that sends fewer bytes of the shipment a second than this, over a minute and a second for \
            each MB; 0 for as few as it likes.
            """, valueName: "bytes"))
    var minRate = standard.timeouts.minimumRate

    @Option(
        "Give up on a sender that has not finished its copy of the store after this long. (default: \(standard.timeouts.preparing.inSeconds))",
        .seconds)
    var prepareTimeout = standard.timeouts.preparing

    func validate() throws {
        for (option, value) in [
            ("--max-external-files", maxExternalFiles), ("--min-rate", minRate),
        ] where value < 0 { throw ValidationError("\(option) takes a number from 0 on") }
        if maxStoresPerDevice < 1 { throw ValidationError("--max-stores-per-device takes a number from 1 on") }
    }

    func apply(to options: inout Consumer.Options) {
        options.budget.storeSize = maxStore
        options.budget.externalFilesSize = maxExternal
        options.keptFree = keepFree
        options.budget.externalFileCount = maxExternalFiles
        options.budget.storesPerDevice = maxStoresPerDevice
        options.timeouts.minimumRate = minRate
        options.timeouts.preparing = prepareTimeout
    }
}
