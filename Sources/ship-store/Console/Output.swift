import EssentialFoundation
import ShipStore
import StoreFiles
import Synchronization
import SystemPackage

/// Data for programs, on standard output.
enum Output {
    private static let firstFailure = Mutex<Errno?>(nil)

    /// The first error of a write, if some data is lost. A closed pipe is no error: its reader wants no more.
    static var failure: Errno? { firstFailure.withLock { $0 } }

    /// Whether people see it at once.
    static var isTerminal: Bool { PlatformCalls.isTerminal(.standardOutput) }

    /// A line for people.
    static func write(_ line: PrintableText) { write(raw: line.text) }

    /// A path that the user named, its bytes for other programs; escaped on a terminal.
    static func write(path: FilePath) {
        if isTerminal { write("\(path)") } else { write(path.bytes + [UInt8(ascii: "\n")]) }
    }

    /// A code to be photographed.
    static func write(_ code: QRCode, blackOnWhite: Bool) {
        code.lines(blackOnWhite: blackOnWhite).forEach(write(raw:))
    }

    private static func write(raw line: String) { write(Array((line + "\n").utf8)) }

    private static func write(_ bytes: [UInt8]) {
        do {
            try FileDescriptor.standardOutput.writeAll(bytes)
        } catch {
            guard let errno = error as? Errno, errno != .brokenPipe else { return }
            firstFailure.withLock { $0 = $0 ?? errno }
        }
    }

    /// One JSON object a line, its members sorted.
    static func write(json value: some Encodable) {
        if let line = json(value) { write(raw: line) }
    }

    /// The same for an object that is written down where it is needed.
    static func write(object: JSONObject) { write(json: object) }

    /// The object on one line. Characters that a terminal would interpret are escaped as in JSON.
    static func json(_ value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { ForeignText.escapedInJSON(String(decoding: $0, as: UTF8.self)) }
    }
}

/// Sizes, rates and times as people read them.
enum Figures {
    /// `812 B`, `13.4 kB`, `2.1 MB`: decimal units, three figures.
    static func bytes(_ count: Int64) -> String {
        guard count >= 1000 else { return "\(count) B" }
        var value = Double(count)
        var unit = ""
        for next in ["kB", "MB", "GB", "TB"] where value >= 999.5 || unit.isEmpty {
            value /= 1000
            unit = next
        }
        return "\(threeFigures(value)) \(unit)"
    }

    /// `0.42 s`, `3 min 12 s`.
    static func duration(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        guard seconds >= 100 else { return "\(threeFigures(seconds)) s" }
        return "\(Int(seconds) / 60) min \(Int(seconds) % 60) s"
    }

    /// `41 %`.
    static func percent(_ part: Int64, of whole: Int64) -> String {
        whole == 0 ? "100 %" : "\(Int((Double(part) / Double(whole) * 100).rounded())) %"
    }

    static func threeFigures(_ value: Double) -> String {
        let decimals = value < 0.0995 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0
        let scale = [1.0, 10, 100, 1000][decimals]
        let rounded = Int((value * scale).rounded())
        guard decimals > 0 else { return "\(rounded)" }
        let fraction = String(rounded % Int(scale))
        return "\(rounded / Int(scale))." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }
}

/// An object of JSON, as a literal of its members. A member that is `nil` is left out.
///
/// `Protocol/OUTPUT.md` says which members an object has, and the tests compare each line with its schema. An object inside another one
/// has to be said to be one: a plain dictionary would write `nil` as `null`.
struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    private var members: [String: any Encodable] = [:]

    init(dictionaryLiteral members: (String, (any Encodable)?)...) {
        for (name, value) in members { self.members[name] = value }
    }

    /// What has happened just now.
    static func event(_ name: String, _ members: JSONObject) -> JSONObject {
        JSONObject(dictionaryLiteral: ("event", name), ("time", now)).adding(members)
    }

    /// The same with the members of another object, too; a member of both stays as it is.
    func adding(_ other: JSONObject) -> JSONObject {
        var object = self
        object.members.merge(other.members) { own, _ in own }
        return object
    }

    /// The time of day, to the millisecond, UTC: `2026-11-20T19:04:05.123Z`.
    private static var now: String {
        let (seconds, attoseconds) = PlatformCalls.timeOfDay.components
        let digits = String(1000 + attoseconds / 1_000_000_000_000_000).dropFirst()
        return "\(Timestamp(Date(timeIntervalSince1970: Double(seconds))).text.dropLast()).\(digits)Z"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in members { try container.encode(value, forKey: Name(stringValue: name)) }
    }
}

/// The heading of a column of text, and on which side the column's fields stand.
enum TextColumn: Hashable {
    case left(String)
    case right(String)

    fileprivate var heading: String {
        switch self {
        case .left(let text), .right(let text): text
        }
    }
}

extension [TextColumn] {
    /// The headings and the rows as lines of text, with columns as wide as their longest field; nothing if there are no rows. Empty
    /// columns are left out, except for columns without a heading.
    func lines(of rows: [[String]]) -> [PrintableText] {
        guard !rows.isEmpty else { return [] }
        let shown = indices.filter { column in
            self[column].heading.isEmpty || rows.contains { !$0[column].isEmpty }
        }
        let all = [map(\.heading)] + rows
        let widths = shown.map { column in Swift.max(1, all.map { $0[column].count }.max() ?? 0) }
        let gap = "  "
        return all.map { row in
            let fields = zip(shown, widths).map { column, width in
                let padding = String(repeating: " ", count: width - row[column].count)
                return if case .right = self[column] { padding + row[column] } else { row[column] + padding }
            }
            return "\(fields.joined(separator: gap).trimmingTrailingSpaces)"
        }
    }
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
