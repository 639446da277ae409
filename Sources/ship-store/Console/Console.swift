import ShipStore
import StoreFiles
import Synchronization
import SystemPackage

/// What the program says to people, on standard error: only what is fit for a terminal. Data goes to standard output, through
/// `Output`.
///
/// On a terminal the last line may be a progress bar, which is drawn anew in place; elsewhere there are plain lines only.
final class Console: Sendable {
    enum Voice: Hashable {
        case normal
        /// Errors only.
        case quiet
    }

    private static let usualColumns = 80

    /// What goes to standard output beside.
    enum Data: Hashable {
        case words
        /// Objects, of which the last says why the program failed.
        case json
    }

    let isTerminal: Bool
    private let voice: Voice
    private let data: Data
    private let barIsShown = Mutex(false)

    init(_ voice: Voice, _ data: Data = .words) {
        self.voice = voice
        self.data = data
        isTerminal = PlatformCalls.isTerminal(.standardError)
    }

    /// A line about what happens.
    func say(_ line: PrintableText) {
        guard voice == .normal else { return }
        write(line.text + "\n")
    }

    /// What the last line shows for now; nowhere but on a terminal.
    func show(_ words: PrintableText) { show { "\(String(words.text.prefix($0)))" } }

    /// The same, for something that suits the terminal's width.
    ///
    /// - Parameter line: Is given the columns that there are. A longer line would go on in the next one, which is then the one
    ///   that is drawn anew.
    func show(_ line: (_ columns: Int) -> PrintableText) {
        guard voice == .normal, isTerminal else { return }
        // In the last column some terminals go on to the next line.
        let columns = (PlatformCalls.terminalColumns(of: .standardError) ?? Self.usualColumns) - 1
        let text = line(max(0, columns))
        barIsShown.withLock { isShown in
            isShown = true
            FileDescriptor.standardError.writeText("\r\u{1B}[K" + text.text)
        }
    }

    /// What may surprise later.
    func warn(_ line: PrintableText) {
        guard voice == .normal else { return }
        write("ship-store: warning: \(line)\n")
    }

    /// Why the program ends, and what to do next.
    func complain(_ cause: PrintableText, hint: PrintableText? = nil) {
        write("ship-store: error: \(cause)\n")
        if let hint { write("ship-store: hint: \(hint)\n") }
    }

    /// The program's last words.
    func fail(_ cause: PrintableText, hint: PrintableText?, _ status: ExitStatus) {
        complain(cause, hint: hint)
        if data == .json { Output.write(json: ErrorLine(error: cause.text, hint: hint?.text, status: status.rawValue)) }
    }

    /// The last words of a program that has been told to stop: no complaint, but programs that read its data hear how it ends.
    func tellOfStop(_ status: ExitStatus) {
        let words: PrintableText = "stopped before it was done"
        say(words)
        if data == .json { Output.write(json: ErrorLine(error: words.text, hint: nil, status: status.rawValue)) }
    }

    private func write(_ text: String) {
        barIsShown.withLock { isShown in
            FileDescriptor.standardError.writeText((isShown ? "\r\u{1B}[K" : "") + text)
            isShown = false
        }
    }
}

extension FileDescriptor {
    /// A reader of messages who has gone away is no reason to stop.
    func writeText(_ text: String) {
        _ = try? writeAll(text.utf8)
    }
}

/// The last object of a command that fails.
private struct ErrorLine: Encodable {
    let event = "error"
    let time = EventTime()
    let error: String
    let hint: String?
    /// With which the program ends.
    let status: Int32
}
