import ArgumentParser
import ShipStore
import SystemPackage

/// How many generations stay, and for how long.
struct RetentionArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp("How many generations of each store to keep, the current one included.", valueName: "count"))
    var keep = 3

    @Option("Keep those beyond that number for this long after they were installed: 90s, 15m, 12h, 7d or 2w.", .age)
    var keepFor: Duration?

    func validate() throws {
        if keep < 1 { throw ValidationError("--keep takes a number from 1 on") }
    }

    var retention: Retention { Retention(count: keep, duration: keepFor) }
}
