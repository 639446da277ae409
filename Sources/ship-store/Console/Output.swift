import EssentialFoundation
import ShipStore
import StoreFiles
import Synchronization
import SystemPackage

/// Data for programs, on standard output.
enum Output {
    private static let firstFailure = Mutex<Errno?>(nil)

    /// The first error of a write, if some data is lost. A closed pipe is no error: its reader wants no more.
    static var failure: Errno? { firstFailure.withLock { $0 == .brokenPipe ? nil : $0 } }

    /// Whether the reader has closed the pipe: whatever only writes for it may end.
    static var isUnwanted: Bool { firstFailure.withLock { $0 == .brokenPipe } }

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

    /// Lines as they are.
    static func write(raw line: String) { write(Array((line + "\n").utf8)) }

    private static func write(_ bytes: [UInt8]) {
        do {
            try FileDescriptor.standardOutput.writeAll(bytes, asLongAsItTakes: true)
        } catch {
            guard let errno = error as? Errno else { return }
            firstFailure.withLock { $0 = $0 ?? errno }
        }
    }

    /// One JSON object a line, its members sorted.
    static func write(json value: some Encodable) {
        if let line = json(value) { write(raw: line) }
    }

    /// The same for an object that is written down where it is needed.
    static func write(_ object: JSONObject) { write(json: object) }

    /// The object on one line. Characters that a terminal would interpret are escaped as in JSON.
    static func json(_ value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { ForeignText.escapedInJSON(String(decoding: $0, as: UTF8.self)) }
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
