import ArgumentParser
import ShipStore
import SystemPackage

/// How a command takes its compact copy.
struct CopyArguments: ParsableArguments {
    private static let standard = CopyOptions()
    static let standardBusyTimeout = standard.busyTimeout

    static let busyTimeoutHelp = ArgumentHelp(
        "Wait this many seconds for another program that keeps the store or its files locked. (default: \(standardBusyTimeout.inSeconds))",
        valueName: "seconds")

    @Option(help: busyTimeoutHelp, transform: Duration.readSeconds)
    var busyTimeout = standardBusyTimeout

    @Flag(help: "Go on without external files that the store refers to and that are not there, and say so.")
    var allowMissingExternal = false

    @Flag(
        help:
            "Take a store that has several names or is mounted alone, though its -wal may be beside another name of it."
    )
    var linked = false

    @Option(
        help: ArgumentHelp(
            "Make the copy in a private folder inside this one, instead of in TMPDIR.", valueName: "folder"),
        completion: .directory,
        transform: FilePath.readFolder)
    var temporaryFolder: FilePath?

    @Option(
        help: ArgumentHelp(
            "Refuse to write what would leave less than this free on the disk. (default: \(standard.keptFree.asSize))",
            valueName: "size"),
        transform: Int64.readSize)
    var keepFree = standard.keptFree

    func copyOptions(leavingOut leaving: ProfileArguments) -> CopyOptions {
        var options = copyOptions
        options.profile = leaving.profile
        return options
    }

    var copyOptions: CopyOptions {
        var options = CopyOptions()
        options.busyTimeout = busyTimeout
        options.allowsMissingExternalFiles = allowMissingExternal
        options.takesSeveralNames = linked
        if let temporaryFolder { options.temporaryFolder = temporaryFolder }
        options.keptFree = keepFree
        return options
    }
}

/// What a command leaves out of its compact copy.
struct ProfileArguments: ParsableArguments {
    @Flag(help: "Leave out the rows of Core Data's persistent history (ACHANGE, ATRANSACTION).")
    var stripHistory = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Leave out the rows of a table, which itself stays; may be given again.", valueName: "table")
    )
    var exclude: [String] = []

    @Option(
        help: ArgumentHelp(
            "Leave out external files of more than this: bytes, or with k, M or G, of 1000 each, as in 500k.",
            valueName: "size"),
        transform: Int64.readSize)
    var withoutExternalOver: Int64?

    var profile: CopyProfile {
        var profile = CopyProfile()
        profile.leavesOutHistory = stripHistory
        profile.emptiedTables = exclude
        profile.longestExternalFile = withoutExternalOver
        return profile
    }
}

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
