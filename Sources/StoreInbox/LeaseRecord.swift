import EssentialFoundation
package import ShipProtocol
import StoreFiles
import SystemPackage

/// That a generation of a store stays until a time, as a sender was told in a file: `leased.json` beside the generations. Of each store
/// one at most is named, the one that was told last.
package struct LeaseRecord: Hashable, Sendable {
    /// The name of its folder.
    private let generation: String
    /// By the clock on the wall.
    package let until: Timestamp

    /// Largest file that is read, in bytes.
    private static let sizeLimit: Int64 = 4096

    package init(of generation: GenerationName, until: Timestamp) {
        self.generation = generation.text
        self.until = until
    }

    package func keeps(_ generation: GenerationName, at now: Timestamp = Timestamp(Date())) -> Bool {
        generation.text == self.generation && !isOver(at: now)
    }

    package func isOver(at now: Timestamp = Timestamp(Date())) -> Bool { until <= now }
}

extension LeaseRecord: Codable {
    /// - Returns: `nil` where there is none, or none that can be read: that a delta finds its base no more costs another file.
    init?(at path: FilePath, in folder: borrowing OpenFolder) {
        guard let record = folder.recordIfReadable(LeaseRecord.self, at: path, upTo: Self.sizeLimit) else { return nil }
        self = record
    }
}
