import ArgumentParser
import ShipStore
import SystemPackage

/// How a command takes its compact copy.
struct CopyArguments: ParsableArguments {
    static let standardBusyTimeout = Seconds(10)

    static let busyTimeoutHelp = ArgumentHelp(
        "Wait this many seconds for another program that keeps the store or its files locked. (default: \(standardBusyTimeout))",
        valueName: "seconds")

    @Option(help: busyTimeoutHelp, transform: Seconds.read)
    var busyTimeout: Seconds = standardBusyTimeout

    @Flag(help: "Go on without external files that the store refers to and that are not there, and say so.")
    var allowMissingExternal = false

    @Option(
        help: ArgumentHelp(
            "Make the copy in a private folder inside this one, instead of in TMPDIR.", valueName: "folder"),
        completion: .directory)
    var temporaryFolder: String?

    @Option(
        help: ArgumentHelp(
            "Refuse to write what would leave less than this free on the disk. (default: 0)", valueName: "size"),
        transform: SizeArgument.read)
    var keepFree: SizeArgument?

    func copyOptions(leavingOut leaving: ProfileArguments) -> CopyOptions {
        var options = copyOptions
        options.profile = leaving.profile
        return options
    }

    var copyOptions: CopyOptions {
        var options = CopyOptions()
        options.busyTimeout = busyTimeout.duration
        options.missingExternalFiles = allowMissingExternal ? .shipWithout : .refuse
        if let temporaryFolder { options.temporaryFolder = FilePath(temporaryFolder) }
        if let keepFree { options.keptFree = keepFree.bytes }
        return options
    }
}
