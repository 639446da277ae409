import ArgumentParser
import ShipStore
import SystemPackage

/// How a command takes its compact copy.
struct CopyArguments: ParsableArguments {
    private static let standard = CopyOptions()
    static let standardBusyTimeout = standard.busyTimeout

    static let busyTimeoutHelp =
        "Wait this many seconds for another program that keeps the store or its files locked. (default: \(standardBusyTimeout.inSeconds))"

    @Option(busyTimeoutHelp, .seconds) var busyTimeout = standardBusyTimeout

    @Flag(help: "Go on without external files that the store refers to and that are not there, and say so.")
    var allowMissingExternal = false

    @Flag(
        help: """
            Take a store that has several names or is mounted alone, though its -wal or -journal may be beside another name of it.
            """)
    var linked = false

    @Option(
        """
        Make the copy in a private folder inside this one. move and copy --keep-in make it at its new place in any case; what \
        send remembers is else made where that is kept, or in RAM. (default: TMPDIR, or /tmp)
        """, .folder)
    var temporaryFolder: FilePath?

    @Option(
        "Refuse to write what would leave less than this free on the disk. (default: \(standard.keptFree.asSize))",
        .size)
    var keepFree = standard.keptFree

    /// Whether something is said of how a live store is read.
    var isOfLiveStores: Bool { allowMissingExternal || linked }

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
