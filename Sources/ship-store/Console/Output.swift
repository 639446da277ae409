import EssentialFoundation
import ShipStore
import StoreFiles
import Synchronization
import SystemPackage

/// Data for programs, on standard output.
enum Output {
    private static let firstFailure = Mutex<Errno?>(nil)

    /// Why some of the data is lost, if it is. That a reader has gone away is no failure: it had enough.
    static var failure: Errno? { firstFailure.withLock { $0 } }

    /// Whether people see it at once.
    static var isTerminal: Bool { PlatformCalls.isTerminal(.standardOutput) }

    /// A line for people.
    static func write(_ line: PrintableText) { write(raw: line.text) }

    /// A path that the user has named, for a program to go on with: as it is, but on a terminal.
    static func write(path: FilePath) { write(raw: isTerminal ? PrintableText("\(path)").text : path.string) }

    /// A code to be photographed.
    static func write(_ code: QRCode, _ colours: QRCode.Colours) { code.lines(colours).forEach(write(raw:)) }

    private static func write(raw line: String) {
        do {
            try FileDescriptor.standardOutput.writeAll((line + "\n").utf8)
        } catch {
            guard let errno = error as? Errno, errno != .brokenPipe else { return }
            firstFailure.withLock { $0 = $0 ?? errno }
        }
    }

    /// One JSON object a line, its members sorted.
    static func write(json value: some Encodable) {
        if let line = json(value) { write(raw: line) }
    }

    /// The object itself, on one line, with whatever a terminal would act upon escaped as JSON does.
    static func json(_ value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { Escaping.json(String(decoding: $0, as: UTF8.self)) }
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

/// When something happened, to the millisecond, UTC: `2026-11-20T19:04:05.123Z`.
struct EventTime: Encodable {
    private let text: String

    /// Now.
    init() {
        let (seconds, attoseconds) = PlatformCalls.timeOfDay.components
        let digits = String(1000 + attoseconds / 1_000_000_000_000_000).dropFirst()
        text = "\(Timestamp(Date(timeIntervalSince1970: Double(seconds))).text.dropLast()).\(digits)Z"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
