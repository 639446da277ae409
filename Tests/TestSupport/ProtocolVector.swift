import FoundationEssentials
import ShipProtocol

/// One of the protocol's examples: bytes, and what a reader of the protocol makes of them. Written by `Protocol/generate.py`.
///
/// The grammar, which is kept to strictly, and the meaning of each field: `Protocol/Vectors/README.md`.
package struct ProtocolVector: Sendable, CustomStringConvertible {
    /// Who reads the bytes, and as what.
    package enum Kind: String, CaseIterable, Sendable {
        case preamble, header, frames, part, data, block, manifest, hello, answer, receipt, refusal, cancel, content,
            holdings, tables, stream, dialogue, canonical, segment, rows, delta, deflate, head, catalog, ranges, sealed,
            short
    }

    package struct Section: Sendable {
        /// Empty where there is but one.
        package let label: String
        package let bytes: [UInt8]
    }

    /// A line that states something.
    package struct Field: Sendable, Hashable {
        package let key: String
        package let value: String

        package init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// A vector that is not as the grammar says; the line in it, from 1, or 0 for the whole.
    package struct GrammarError: Error {
        let vector: String
        let line: Int
        let flaw: String
    }

    package let name: String
    package let kind: Kind
    /// `nil` if nothing is wrong with the bytes.
    package let error: String?
    /// All fields after the common ones, in order.
    package let fields: [Field]
    package let sections: [Section]

    package var description: String { name }

    /// The bytes of the section without a label.
    package var bytes: [UInt8] { bytes(labelled: "") ?? [] }

    package func bytes(labelled label: String) -> [UInt8]? {
        sections.first { $0.label == label }?.bytes
    }

    /// The value of the first field with this key.
    package subscript(_ key: String) -> String? { fields.first { $0.key == key }?.value }

    package func number(_ key: String) -> Int? { self[key].flatMap { Int($0) } }

    package func all(_ key: String) -> [String] { fields.filter { $0.key == key }.map(\.value) }

    /// The decoded values that are stated, sorted: `value.store.size: 4096`.
    package var statedValues: [String] {
        fields.filter { $0.key.hasPrefix("value.") }.map { "\($0.key): \($0.value)" }.sorted()
    }
}

extension ProtocolVector {
    /// Beside `Tests`, wherever the sources are.
    private static var folder: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Protocol/Vectors")
    }

    /// Every vector, by name.
    ///
    /// - Throws: `GrammarError` for the first that is not as it should be.
    package static func all() throws -> [ProtocolVector] { try cache.get() }

    private static let cache = Result { try read() }

    private static func read() throws -> [ProtocolVector] {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "README.md" }
        return try files.flatMap { file in
            let bytes = [UInt8](try Data(contentsOf: folder.appending(path: file)))
            return try split(bytes).map { try ProtocolVector(parsing: $0, ofFile: file) }
        }.sorted { $0.name < $1.name }
    }

    package static func all(_ kind: Kind) throws -> [ProtocolVector] { try all().filter { $0.kind == kind } }
}
