import ArgumentParser
import ShipStore

/// How long a command waits for other users of the store.
struct BusyArguments: ParsableArguments {
    private static let standardBusyTimeout = RestoreOptions().busyTimeout

    @Option(
        "Wait this many seconds for other programs that use the store. (default: \(standardBusyTimeout.inSeconds))",
        .seconds)
    var busyTimeout = standardBusyTimeout
}
