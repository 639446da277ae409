public import FoundationEssentials

/// A moment to the second, UTC, written `2026-11-20T19:04:05Z` (RFC 3339 section 5.6, without fractions or offsets).
public struct Timestamp: Hashable, Sendable, Comparable {
    /// Whole seconds.
    public let date: Date

    /// Rounds down to a whole second.
    public init(_ date: Date) {
        self.date = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
    }

    /// - Returns: `nil` unless the text has exactly the form above and names a moment that exists.
    public init?(_ text: String) {
        guard text.utf8.count == 20, let date = try? Date(text, strategy: .iso8601) else { return nil }
        self.init(date)
        guard self.text == text else { return nil }
    }

    /// `2026-11-20T19:04:05Z`.
    public var text: String { date.formatted(.iso8601) }

    /// `20261120T190405`, fit for a file's name.
    public var compactText: String {
        String(text.dropLast().filter { $0 != "-" && $0 != ":" })
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.date < right.date }
}

extension Timestamp: CustomStringConvertible {
    public var description: String { text }
}

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let timestamp = Timestamp(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a time like 2026-11-20T19:04:05Z"))
        }
        self = timestamp
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
