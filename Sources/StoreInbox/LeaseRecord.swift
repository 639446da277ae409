import EssentialFoundation
package import ShipProtocol
import StoreFiles
import SystemPackage

/// That a generation of a store stays until a time, as a sender was told in a file: `leased.json` beside the generations. Of each store
/// one at most is named, the one that was told last.
package struct LeaseRecord: Hashable, Sendable, Codable {
    /// The name of its folder.
    private let generation: String
    /// By the clock on the wall.
    package let until: Timestamp

    package init(of generation: GenerationName, until: Timestamp) {
        self.generation = generation.text
        self.until = until
    }

    package func keeps(_ generation: GenerationName, at now: Timestamp = Timestamp(Date())) -> Bool {
        generation.text == self.generation && !isOver(at: now)
    }

    package func isOver(at now: Timestamp = Timestamp(Date())) -> Bool { until <= now }
}
