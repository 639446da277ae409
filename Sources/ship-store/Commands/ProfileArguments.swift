import ArgumentParser
import ShipStore
import SystemPackage

/// The parts that a command leaves out of its compact copy.
struct ProfileArguments: ParsableArguments {
    @Flag(help: "Leave out the rows of Core Data's persistent history (ACHANGE, ATRANSACTION).")
    var stripHistory = false

    @Option(
        help: ArgumentHelp("Leave out the rows of a table, which itself stays; may be given again.", valueName: "table")
    )
    var exclude: [String] = []

    @Option("Leave out external files of more than this: bytes, or with k, M or G, of 1000 each, as in 500k.", .size)
    var withoutExternalOver: Int64?

    var profile: CopyProfile {
        var profile = CopyProfile()
        profile.leavesOutHistory = stripHistory
        profile.emptiedTables = exclude
        profile.longestExternalFile = withoutExternalOver
        return profile
    }
}
