import ArgumentParser
import Foundation
import ShipStore
import ShipStoreNetwork
import StoreFiles
import SystemPackage

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

/// How much checking a store may cost.
struct CheckArguments: ParsableArguments {
    private static let standard = CheckLimits()
    private static let standardTime = Seconds(Int(standard.time.components.seconds))
    private static let standardMemory = ByteCount(standard.memory)
    private static let standardSize = ByteCount(standard.fullCheckSize)

    @Option(
        help: ArgumentHelp(
            "Refuse a store whose checks take longer than this many seconds. (default: \(standardTime))",
            valueName: "seconds"), transform: Seconds.read)
    var checkSeconds: Seconds = standardTime

    @Option(
        help: ArgumentHelp(
            "Refuse a store whose checks take more memory than this: 16M or more. (default: \(standardMemory))",
            valueName: "bytes"), transform: ByteCount.read)
    var checkMemory: ByteCount = standardMemory

    @Option(
        help: ArgumentHelp(
            """
            Compare each index with its table too, in stores up to this size, which takes some ten times as long; 0 for \
            none. (default: \(standardSize))
            """, valueName: "bytes"), transform: ByteCount.read)
    var fullCheckUpTo: ByteCount = standardSize

    private static let leastMemory = ByteCount(16 * 1024 * 1024)

    func validate() throws {
        if checkMemory.bytes < Self.leastMemory.bytes {
            throw ValidationError("--check-memory takes \(Self.leastMemory) or more: SQLite does with no less")
        }
    }

    /// The checks have a process of their own, where this program can be started.
    var options: CheckOptions {
        var options = CheckOptions()
        options.limits = CheckLimits(
            time: checkSeconds.duration, memory: checkMemory.bytes, fullCheckSize: fullCheckUpTo.bytes)
        if let program = Self.program { options.place = .childProcess(program: program) }
        return options
    }

    /// This very program, even if another one has taken its place on the disk meanwhile.
    private static var program: FilePath? {
        let running: FilePath = "/proc/self/exe"
        if (try? PlatformCalls.status(of: running)) != nil { return running }
        return Bundle.main.executablePath.map { FilePath($0) }
    }
}

/// A number of bytes, with or without one of the letters K, M and G, which stand for powers of 1,024.
struct ByteCount: Hashable, CustomStringConvertible {
    let bytes: Int64
    /// As the help writes it.
    let description: String

    private static let units: [(letter: Character, bytes: Int64)] = [("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)]

    init(_ bytes: Int64) {
        self.bytes = bytes
        let unit = Self.units.first { bytes > 0 && bytes % $0.bytes == 0 }
        description = unit.map { "\(bytes / $0.bytes)\($0.letter)" } ?? "\(bytes)"
    }

    @Sendable static func read(_ text: String) throws -> ByteCount {
        let unit = units.first { text.uppercased().last == $0.letter }
        let digits = unit == nil ? text[...] : text.dropLast()
        let plain = digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard plain, let number = Int64(digits),
            case let (bytes, overflow) = number.multipliedReportingOverflow(by: unit?.bytes ?? 1),
            !overflow
        else { throw ValidationError("a number of bytes is written 4096, 512K, 64M or 2G") }
        return ByteCount(bytes)
    }
}
