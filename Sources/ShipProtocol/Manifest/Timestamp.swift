import CLibrary
public import EssentialFoundation

/// A moment to the second, UTC, of the years 0 to 9999, written `2026-11-20T19:04:05Z` (RFC 3339 section 5.6, without fractions or
/// offsets). The C library writes and reads it: Foundation's styles would load megabytes of calendars and time zones.
public struct Timestamp: Hashable, Sendable, Comparable {
    /// Whole seconds.
    public let date: Date

    /// Seconds since 1970 of the years of four digits.
    private static let range: ClosedRange<Double> = -62_167_219_200...253_402_300_799

    /// Rounds down to a whole second, and to the nearest one within the years of four digits; a NaN becomes the first.
    public init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        self.date = Date(timeIntervalSince1970: min(Self.range.upperBound, max(Self.range.lowerBound, seconds)))
    }

    /// - Returns: `nil` unless the text has exactly the form above and names a moment that exists.
    public init?(_ text: String) {
        let fields = text.utf8.split(whereSeparator: { !$0.isDigit })
            .compactMap { Int32(Substring($0)) }
        guard text.utf8.count == 20, fields.count == 6 else { return nil }
        var calendar = tm()
        calendar.tm_year = fields[0] - 1900
        calendar.tm_mon = fields[1] - 1
        calendar.tm_mday = fields[2]
        calendar.tm_hour = fields[3]
        calendar.tm_min = fields[4]
        calendar.tm_sec = fields[5]
        self.init(Date(timeIntervalSince1970: Double(timegm(&calendar))))
        guard self.text == text else { return nil }
    }

    /// `2026-11-20T19:04:05Z`.
    public var text: String {
        var seconds = time_t(date.timeIntervalSince1970)
        var calendar = tm()
        gmtime_r(&seconds, &calendar)
        func digits(_ number: Int32, _ count: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: count - digits.count) + digits
        }
        let day = [digits(calendar.tm_year + 1900, 4), digits(calendar.tm_mon + 1), digits(calendar.tm_mday)]
        let time = [digits(calendar.tm_hour), digits(calendar.tm_min), digits(calendar.tm_sec)]
        return "\(day.joined(separator: "-"))T\(time.joined(separator: ":"))Z"
    }

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
        self = try decoder.value(orFlaw: "not a time like 2026-11-20T19:04:05Z") { Timestamp($0) }
    }

    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}
