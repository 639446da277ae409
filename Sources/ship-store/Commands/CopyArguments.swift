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
        transform: SizeArgument.read)
    var withoutExternalOver: SizeArgument?

    var profile: CopyProfile {
        var profile = CopyProfile()
        profile.history = stripHistory ? .leftOut : .kept
        profile.emptiedTables = exclude
        profile.longestExternalFile = withoutExternalOver?.bytes
        return profile
    }
}

/// A number of bytes, `500k`: decimal units, as in all that the program says.
struct SizeArgument: Hashable {
    let bytes: Int64

    private static let units: [(ending: String, bytes: Int64)] = [("k", 1000), ("m", 1_000_000), ("g", 1_000_000_000)]

    @Sendable static func read(_ text: String) throws -> SizeArgument {
        var digits = Substring(text.lowercased())
        if digits.hasSuffix("b") { digits.removeLast() }
        let unit = units.first { digits.hasSuffix($0.ending) }
        if unit != nil { digits.removeLast() }
        guard let count = Int64(digits), count >= 0, digits.first != "+",
            case let (bytes, overflow) = count.multipliedReportingOverflow(by: unit?.bytes ?? 1), !overflow
        else { throw ValidationError("a size is a whole number of bytes, or one with k, M or G, as in 500k") }
        return SizeArgument(bytes: bytes)
    }
}

/// How a command gets on with others who use the store.
struct BusyArguments: ParsableArguments {
    static let standardBusyTimeout = Seconds(10)

    @Option(
        help: ArgumentHelp(
            "Wait this many seconds for other programs that use the store. (default: \(standardBusyTimeout))",
            valueName: "seconds"),
        transform: Seconds.read)
    var busyTimeout: Seconds = standardBusyTimeout
}
