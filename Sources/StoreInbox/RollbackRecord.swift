package import ShipProtocol
import StoreFiles
import SystemPackage

/// The record of an operator's rollbacks of one store, beside its generations: `rollback.json`.
///
/// It is written before `current` is switched. A crash between the two leaves an entry for the generation that is still current;
/// that entry does not count.
package struct RollbackRecord: Hashable, Sendable, Codable {
    /// The highest number among the generations that were current at a rollback; 0 if there was none. A generation whose number
    /// is above this one and above the current one never became current.
    package var highest: Int
    /// The generations that were rolled back, the oldest first. A shipment of one of them is refused.
    package var refused: [Refused]
    /// Since when every other state of the store is refused; `nil` for not at all.
    package var hold: Hold?

    /// The operator holds the store at an older generation: no shipment becomes current until the operator releases it.
    package struct Hold: Hashable, Sendable, Codable {
        /// The highest generation from which the operator went back. While it is current, the hold does not count: the switch away from it
        /// never came, or the operator has gone forward to it again.
        package let generation: Int
        /// Of the last step back.
        package let at: Timestamp

        package init(generation: Int, at: Timestamp) {
            self.generation = generation
            self.at = at
        }
    }

    /// A generation that was rolled back.
    package struct Refused: Hashable, Sendable, Codable {
        package let generation: Int
        /// Of its store.
        package let sha256: ContentDigest
        package let at: Timestamp

        package init(generation: Int, sha256: ContentDigest, at: Timestamp) {
            self.generation = generation
            self.sha256 = sha256
            self.at = at
        }
    }

    /// Most entries: the oldest are forgotten.
    package static let longest = 1024
    /// Largest file that is read, in bytes.
    static let sizeLimit = Int64(Limits.messageSize)

    package static let empty = RollbackRecord(highest: 0, refused: [])

    package init(highest: Int, refused: [Refused], hold: Hold? = nil) {
        self.highest = highest
        self.refused = refused
        self.hold = hold
    }

    /// The hold, if it counts while this generation is current.
    package func hold(at current: Int?) -> Hold? { hold?.generation == current ? nil : hold }

    package func entry(of store: ContentDigest) -> Refused? { refused.last { $0.sha256 == store } }

    /// The record once a generation is rolled back, too: from then on the store is held.
    ///
    /// - Parameter store: The SHA-256 of its store; `nil` if that cannot be read: then it may come again.
    package func adding(_ generation: Int, _ store: ContentDigest?, at time: Timestamp) -> RollbackRecord {
        let entry = store.map { Refused(generation: generation, sha256: $0, at: time) }
        return RollbackRecord(
            highest: max(highest, generation),
            refused: Array((refused.filter { $0.sha256 != store } + [entry].compactMap(\.self)).suffix(Self.longest)),
            hold: Hold(generation: max(hold?.generation ?? 0, generation), at: time))
    }

    /// Without what does not count while this generation is current.
    package func settled(at current: Generation) -> RollbackRecord {
        RollbackRecord(
            highest: highest, refused: refused.filter { $0.sha256 != current.manifest.store.sha256 },
            hold: hold(at: current.number))
    }

    /// The record once the operator has released the store.
    package var released: RollbackRecord { RollbackRecord(highest: highest, refused: refused) }

    /// Whether its numbers are as this program writes them: the next generation has a number above them.
    var isInRange: Bool {
        (0..<Limits.generation).contains(highest) && refused.count <= Self.longest
            && (refused.map(\.generation) + [hold?.generation].compactMap(\.self))
                .allSatisfy { (1...max(1, highest)).contains($0) }
    }
}
