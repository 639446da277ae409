/// The parts that the user had left out of a shipment. The manifest names them, so that a reader does not take their absence for a loss.
///
/// Source: `Protocol/README.md` section 4.9.
public struct Omissions: Hashable, Sendable {
    /// Whether the persistent history of a Core Data store was emptied.
    public let history: Bool
    /// Tables that were emptied, sorted.
    public let tables: [ForeignText]
    /// External files that are referenced and were not shipped, sorted.
    public let externalFiles: [OmittedFile]

    /// An external file that was too large to be shipped.
    public struct OmittedFile: Hashable, Sendable {
        public let name: ExternalFileName
        /// Of the file, in bytes.
        public let size: Int64

        package init(name: ExternalFileName, size: Int64) {
            self.name = name
            self.size = size
        }
    }

    /// - Returns: `nil` if nothing was left out.
    package init?(history: Bool, tables: [ForeignText], externalFiles: [OmittedFile]) {
        guard history || !tables.isEmpty || !externalFiles.isEmpty else { return nil }
        self.history = history
        self.tables = tables.sorted()
        self.externalFiles = externalFiles.sorted { $0.name < $1.name }
    }

    /// Whether it lists nothing: the same as no omissions.
    var isEmpty: Bool { !history && tables.isEmpty && externalFiles.isEmpty }

    var firstFlaw: String? {
        guard tables.count <= Limits.tables else { return "more than \(Limits.tables) tables" }
        guard tables.allSatisfy(\.isLabel) else { return "the name of a table is not a label" }
        return externalFiles.allSatisfy { (0...Limits.partSize).contains($0.size) }
            ? nil : "the size of an external file is out of range"
    }
}

extension Omissions: Codable {
    private enum CodingKeys: String, CodingKey {
        case history, tables, externalFiles
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        history = try container.decodeIfPresent(Bool.self, forKey: .history) ?? false
        tables = try container.decodeIfPresent([ForeignText].self, forKey: .tables) ?? []
        externalFiles = try container.decodeIfPresent([OmittedFile].self, forKey: .externalFiles) ?? []
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if history { try container.encode(history, forKey: .history) }
        if !tables.isEmpty { try container.encode(tables, forKey: .tables) }
        if !externalFiles.isEmpty { try container.encode(externalFiles, forKey: .externalFiles) }
    }
}
