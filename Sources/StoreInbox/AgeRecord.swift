package import ShipProtocol
import StoreFiles
import SystemPackage

/// Since when a generation may lack commits of its source: `asof.json`, beside the generations.
///
/// Two clocks say it. One runs since the system's start, through its sleep, and cannot be set; but it stands still in a virtual machine
/// that does, and is taken back with it. The other one hangs on the wall, and may be set. The age is the larger of what both say, and
/// unknown if either goes back or the system has started anew: so a copy may seem older than it is, and never younger. What is lost with
/// the record is asked again, so that it is not synced.
package struct AgeRecord: Hashable, Sendable, Codable {
    /// The name of its folder.
    private let generation: String
    /// Milliseconds since the system's start.
    private let at: Int64
    /// Which start that was; `nil` where the system does not say: then nothing is known.
    private let start: String?
    /// Milliseconds since 1970.
    private let wallTime: Int64

    /// The times that the clocks show.
    package struct Clocks: Hashable, Sendable {
        package let sinceStart: Duration
        let start: String?
        let wallTime: Duration

        package init(sinceStart: Duration, start: String?, wallTime: Duration) {
            (self.sinceStart, self.start, self.wallTime) = (sinceStart, start, wallTime)
        }

        package static var now: Clocks {
            Clocks(
                sinceStart: PlatformCalls.timeSinceStart, start: PlatformCalls.bootIdentifier,
                wallTime: PlatformCalls.timeOfDay)
        }

        /// The same moment, as long before as the first clock says.
        package func back(to earlier: Duration) -> Clocks {
            Clocks(sinceStart: earlier, start: start, wallTime: wallTime - (sinceStart - earlier))
        }
    }

    package init(of generation: GenerationName, asOf time: Clocks) {
        self.generation = generation.text
        at = Int64((time.sinceStart / .milliseconds(1)).rounded(.down))
        start = time.start
        wallTime = Int64((time.wallTime / .milliseconds(1)).rounded(.down))
    }

    /// - Returns: `nil` if it is unknown, or the record is of another generation.
    package func age(of generation: GenerationName?, at now: Clocks = .now) -> Duration? {
        guard let start, start == now.start, generation?.text == self.generation else { return nil }
        let (age, wallAge) = (now.sinceStart - .milliseconds(at), now.wallTime - .milliseconds(wallTime))
        return min(age, wallAge) < .zero ? nil : max(age, wallAge)
    }
}

extension InboxFolder {
    /// - Returns: `nil` where there is none, or none that can be read.
    package func ageRecord(of name: StoreName) -> AgeRecord? { files.recordIfReadable(at: layout.ageRecord(name)) }

    /// How old a generation is, if it is the current one.
    package func age(of generation: GenerationName?, _ name: StoreName) -> CopyAge {
        // Of a store that is held since a rollback nothing newer is taken, whoever is asked.
        let hold = generation.flatMap { (try? rollbackRecord(of: name))?.hold(at: $0.number) }
        return CopyAge(age: ageRecord(of: name)?.age(of: generation), isConnected: hold == nil && isHeard(name))
    }
}
