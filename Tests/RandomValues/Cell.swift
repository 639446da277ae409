/// One value of a row.
package enum Cell: Hashable, Sendable, Codable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    /// A text whose bytes no encoding of texts allows.
    case badText([UInt8])
    case blob([UInt8])

    /// About how many bytes it takes.
    package var size: Int {
        switch self {
        case .null: 1
        case .integer, .real: 8
        case .text(let text): text.utf8.count
        case .badText(let bytes), .blob(let bytes): bytes.count
        }
    }

    /// The value as SQL has it.
    package var sql: String {
        switch self {
        case .null: "NULL"
        case .integer(.min): "(-9223372036854775807 - 1)"
        case .integer(let value): "\(value)"
        case .real(let value) where value.isFinite: "\(value)"
        case .real(let value): value > 0 ? "9e999" : "-9e999"
        case .text(let text) where !text.utf8.contains(0):
            "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'"
        case .text(let text): "CAST(\(Self.hex(Array(text.utf8))) AS TEXT)"
        case .badText(let bytes): "CAST(\(Self.hex(bytes)) AS TEXT)"
        case .blob(let bytes): Self.hex(bytes)
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = Array("x'".utf8)
        for byte in bytes { for half in [byte >> 4, byte & 15] { digits.append(half + (half < 10 ? 48 : 87)) } }
        return String(decoding: digits + [39], as: UTF8.self)
    }

    /// Simpler values, the simplest first.
    package var simpler: [Cell] {
        switch self {
        case .null: []
        case .integer(let value): [.null] + (value == 0 ? [] : [.integer(0), .integer(value / 2)])
        case .real(let value): [.null] + (value == 0 ? [] : [.real(0)])
        case .text(let text):
            [.null] + Self.shorter(Array(text)).map { .text(String($0)) }
        case .badText(let bytes): [.null, .text("a")] + Self.shorter(bytes).map { .badText($0) }
        case .blob(let bytes): [.null] + Self.shorter(bytes).map { .blob($0) }
        }
    }

    private static func shorter<Element>(_ elements: [Element]) -> [[Element]] {
        guard !elements.isEmpty else { return [] }
        let half = elements.count / 2
        return [[], Array(elements[..<half]), Array(elements[half...])]
            + (elements.count > 3 ? [Array(elements.dropLast()), Array(elements.dropFirst())] : [])
    }
}
