import Foundation
import TestSupport

/// Which seeds a random test takes, and for how long.
package enum RandomSeeds {
    private static let environment = ProcessInfo.processInfo.environment

    /// Only the one that `SHIP_STORE_SEED` names, to see a failure again.
    package static let isOne = environment["SHIP_STORE_SEED"] != nil

    /// The same in each short run; other ones in each long one.
    package static let first: UInt64 =
        environment["SHIP_STORE_SEED"].flatMap(UInt64.init)
        ?? (Soak.isOn ? UInt64(Date().timeIntervalSince1970) * 100_000 : 1)

    /// - Parameters: Seconds of a short and of a long run, unless `SHIP_STORE_SECONDS` says how many.
    package static func time(short: Int, long: Int) -> Duration {
        .seconds(environment["SHIP_STORE_SECONDS"].flatMap(Int.init) ?? (Soak.isOn ? long : short))
    }
}
