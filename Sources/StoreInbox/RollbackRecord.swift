import EssentialFoundation
package import ShipProtocol
import StoreFiles
import SystemPackage

/// What an operator's rollbacks of one store leave behind, beside its generations: `rollback.json`.
///
/// It is written before `current` is switched. A crash between the two leaves an entry for the generation that is still current;
/// that entry does not count.
package struct RollbackRecord: Hashable, Sendable {
    /// The highest number among the generations that were current at a rollback; 0 if there was none. A generation whose number
    /// is above this one and above the current one never became current.
    package var highest: Int
    /// The generations that were rolled back, the oldest first. A shipment of one of them is refused.
    package var refused: [Refused]

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
    private static let sizeLimit = Int64(Limits.messageSize)

    package static let empty = RollbackRecord(highest: 0, refused: [])

    package init(highest: Int, refused: [Refused]) {
        self.highest = highest
        self.refused = refused
    }

    /// The entry of a store, if there is one.
    package func entry(of store: ContentDigest) -> Refused? { refused.last { $0.sha256 == store } }

    /// The record once a generation is rolled back, too.
    package func adding(_ generation: Generation, at time: Timestamp) -> RollbackRecord {
        let digest = generation.manifest.store.sha256
        let entry = Refused(generation: generation.number, sha256: digest, at: time)
        return RollbackRecord(
            highest: max(highest, generation.number),
            refused: Array((refused.filter { $0.sha256 != digest } + [entry]).suffix(Self.longest)))
    }

    /// Without the entry of a store.
    package func allowing(_ store: ContentDigest) -> RollbackRecord {
        RollbackRecord(highest: highest, refused: refused.filter { $0.sha256 != store })
    }
}

extension RollbackRecord: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            highest: try container.decode(Int.self, forKey: .highest),
            refused: try container.decode([Refused].self, forKey: .refused))
        let isInRange =
            (0...Limits.generation).contains(highest) && refused.count <= Self.longest
            && refused.allSatisfy { (1...max(1, highest)).contains($0.generation) }
        guard isInRange else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a number is out of range"))
        }
    }

    /// - Returns: An empty record if there is no file.
    /// - Throws: `.badRecord`, `.file`.
    init(at path: FilePath, in folder: borrowing OpenFolder) throws(InboxError) {
        let record = try folder.record(
            RollbackRecord.self, at: path, upTo: Self.sizeLimit,
            unreadable: .badRecord(path, flaw: "not a file of its size"),
            undecodable: .badRecord(path, flaw: "not a record of rollbacks"))
        self = record ?? .empty
    }
}
