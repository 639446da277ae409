import ArgumentParser
import Foundation
import ShipStore
import ShipStoreNetwork
import StoreFiles
import SystemPackage

/// How much checking a store may cost.
struct CheckArguments: ParsableArguments {
    private static let standard = CheckLimits()

    @Option(
        "Refuse a store whose checks take longer than this many seconds. (default: \(standard.time.inSeconds))",
        .seconds)
    var checkSeconds = standard.time

    @Option(
        "Refuse a store whose checks take more memory than this: 16M or more. (default: \(standard.memory.asMemory))",
        .memory)
    var checkMemory = standard.memory

    @Option(
        """
        Compare each index with its table too, in stores up to this size, which takes some ten times as long; 0 for \
        none. (default: \(standard.fullCheckSize.asMemory))
        """, .memory)
    var fullCheckUpTo = standard.fullCheckSize

    private static let leastMemory: Int64 = 16 * 1024 * 1024

    func validate() throws {
        if checkMemory < Self.leastMemory {
            throw ValidationError("--check-memory takes \(Self.leastMemory.asMemory) or more: SQLite does with no less")
        }
    }

    /// The checks with the usual limits run in a process of their own if this program can start itself.
    static var usualOptions: CheckOptions {
        var options = CheckOptions()
        if let program { options.place = .childProcess(program: program) }
        return options
    }

    /// The same with the operator's limits.
    var options: CheckOptions {
        var options = Self.usualOptions
        options.limits = CheckLimits(time: checkSeconds, memory: checkMemory, fullCheckSize: fullCheckUpTo)
        return options
    }

    /// The running program, even if its file was replaced since it started.
    private static var program: FilePath? {
        let running: FilePath = "/proc/self/exe"
        if (try? PlatformCalls.status(of: running)) != nil { return running }
        return PlatformCalls.program
    }
}
