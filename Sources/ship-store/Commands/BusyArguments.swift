import ArgumentParser
import ShipStore

/// How long a command waits for other users of the store.
struct BusyArguments: ParsableArguments {
    private static let standardBusyTimeout = RestoreOptions().busyTimeout

    @Option(
        help: ArgumentHelp(
            "Wait this many seconds for other programs that use the store. (default: \(standardBusyTimeout.inSeconds))",
            valueName: "seconds"),
        transform: Duration.readSeconds)
    var busyTimeout = standardBusyTimeout
}
