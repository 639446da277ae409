import EssentialFoundation
package import ShipProtocol
import StoreFiles
import SystemPackage

/// What an operator's rollbacks of one store leave behind, beside its generations: `rollback.json`.
///
/// It is written before `current` is switched, so that an entry may be there of which the switch never came: an entry that
/// names what is current says nothing.
package struct RollbackRecord: Hashable, Sendable {
    /// The highest number of a generation that was ever current when somebody went back; 0 if nobody has. Numbers above
    /// both it and the current one are those of generations that never became current.
    package var highest: Int
    /// From what somebody went back, the oldest first: it does not come in again by itself.
    package var refused: [Refused]

    /// One generation from which somebody went back.
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

    /// Somebody goes back from a generation.
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
    private enum CodingKeys: String, CodingKey { case highest, refused }

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
        let bytes: [UInt8]
        do throws(FileError) {
            let file = try folder.file(at: path)
            let status = try file.status
            guard status.size <= Self.sizeLimit else {
                throw FileError(.read, path, .fileTooLarge)
            }
            bytes = try file.read(Int(status.size), at: 0)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: self = .empty
            case .fileTooLarge, .invalidArgument, .tooManySymbolicLinkLevels:
                throw .badRecord(path, flaw: "not a file of its size")
            default: throw .file(error)
            }
            return
        }
        guard let record = try? JSONDecoder().decode(RollbackRecord.self, from: Data(bytes)) else {
            throw .badRecord(path, flaw: "not a record of rollbacks")
        }
        self = record
    }
}
