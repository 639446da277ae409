import Foundation
import ShipStore
import StoreFiles
import Synchronization
import SystemPackage

/// The program's words to people, on standard error: only what is fit for a terminal. Data goes to standard output, through `Output`.
///
/// On a terminal the last line may be a progress bar, which is redrawn in place. Elsewhere there are plain lines only.
final class Console: Sendable {
    private static let usualColumns = 80

    let isTerminal: Bool
    /// Whether it writes errors only.
    private let isQuiet: Bool
    /// Whether standard output has JSON, whose last object says why the program failed.
    private let endsJSON: Bool
    private let format: LogFormat
    private let state = Mutex(State())

    private struct State {
        var isBarShown = false
        /// Messages that nobody took, since the last one that somebody did.
        var lost = 0
    }

    init(isQuiet: Bool = false, endsJSON: Bool = false, _ format: LogFormat = .text(stamped: false)) {
        self.isQuiet = isQuiet
        self.endsJSON = endsJSON
        self.format = format
        // No bar stands among objects.
        isTerminal = format != .json && PlatformCalls.isTerminal(.standardError)
    }

    /// A line about what happens.
    func say(_ line: PrintableText) { say(line, about: nil) }

    func say(_ line: PrintableText, about subject: LogSubject?) {
        guard !isQuiet else { return }
        write(.info, line, about: subject)
    }

    /// Replaces the last line; does nothing without a terminal.
    func show(_ words: PrintableText) { show { "\(String(words.text.prefix($0)))" } }

    /// The same, for something that suits the terminal's width.
    ///
    /// - Parameter line: Gets the number of columns. A longer line would wrap, and only its last part would be redrawn.
    func show(_ line: (_ columns: Int) -> PrintableText) {
        guard !isQuiet, isTerminal else { return }
        // Some terminals wrap after the last column.
        let columns = (PlatformCalls.terminalColumns(of: .standardError) ?? Self.usualColumns) - 1
        let text = line(max(0, columns))
        state.withLock { state in
            state.isBarShown = true
            Self.write("\r\u{1B}[K" + text.text, &state)
        }
    }

    /// A word of what may surprise later.
    func warn(_ line: PrintableText, about subject: LogSubject? = nil) {
        guard !isQuiet else { return }
        write(.warning, line, about: subject)
    }

    /// Why the program ends, and what to do next.
    func complain(_ cause: PrintableText, hint: PrintableText? = nil) {
        write(.error, cause, hint: hint, about: nil)
    }

    /// The program's last words.
    func fail(_ cause: PrintableText, hint: PrintableText?, _ status: ExitStatus) {
        complain(cause, hint: hint)
        endOutput(cause, hint: hint, status.rawValue)
    }

    /// The last words of a program that a signal stopped: no error for people, but an object for programs.
    func tellOfStop(_ status: ExitStatus) {
        let words: PrintableText = "stopped before it was done"
        say(words)
        endOutput(words, hint: nil, status.rawValue)
    }

    /// The last object of a command that fails.
    func endOutput(_ cause: PrintableText, hint: PrintableText? = nil, _ status: Int32) {
        guard endsJSON else { return }
        Output.write(.event("error", ["error": cause.text, "hint": hint?.text, "status": status]))
    }

    /// Asks who sits at the terminal. A program that reads from it in the background is stopped [tcgetpgrp(3)].
    ///
    /// - Returns: The line that is the answer; `nil` where there is nobody to ask, or no answer.
    func ask(_ question: PrintableText) -> String? {
        let mayRead = tcgetpgrp(FileDescriptor.standardInput.rawValue) == getpgrp()
        guard mayRead, isTerminal, !isQuiet, !endsJSON else { return nil }
        write(raw: question.text)
        return readLine()
    }

    private func write(
        _ level: LogLevel, _ words: PrintableText, hint: PrintableText? = nil, about subject: LogSubject?
    ) {
        switch format {
        case .text(let isStamped):
            let stamp = isStamped ? subject?.stamp ?? "" : ""
            write(raw: "\(level.prefix)\(stamp)\(words)\n")
            if let hint { write(raw: "ship-store: hint: \(hint)\n") }
        case .json:
            let members: JSONObject = [
                "level": level.rawValue, "words": words.text, "hint": hint?.text, "session": subject?.session,
                "peer": subject?.peer, "store": subject?.store?.text,
            ]
            if let line = Output.json(JSONObject.event(subject?.event ?? level.event, members)) {
                write(raw: line + "\n")
            }
        }
    }

    private func write(raw text: String) {
        state.withLock { state in
            Self.write((state.isBarShown ? "\r\u{1B}[K" : "") + text, &state)
            state.isBarShown = false
        }
    }

    /// Ignores errors, and a reader that reads nothing: the program goes on when its messages have no reader.
    private static func write(_ text: String, _ state: inout State) {
        let isStalled = state.lost > 0
        if isStalled, !PlatformCalls.canWrite(to: .standardError, within: 0) { return state.lost += 1 }
        let loss = isStalled ? "ship-store: warning: messages lost, as nobody took them: \(state.lost)\n" : ""
        do {
            try FileDescriptor.standardError.writeAll(Array((loss + text).utf8), asLongAsItTakes: false)
            state.lost = 0
        } catch {
            state.lost += 1
        }
    }
}
