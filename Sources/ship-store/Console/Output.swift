import EssentialFoundation
import ShipStore
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
