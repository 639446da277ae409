import ArgumentParser
import ShipStore
import StoreFiles

/// How the program ends, after sysexits(3).
enum ExitStatus: Int32 {
    case success = 0
    /// EX_USAGE: the command line makes no sense.
    case usage = 64
    /// EX_DATAERR: the data is bad.
    case badData = 65
    /// EX_NOINPUT: no such store.
    case noInput = 66
    /// EX_UNAVAILABLE: the peer is not reachable.
    case unavailable = 69
    /// EX_SOFTWARE: an error that nobody has thought of.
    case unexpected = 70
    /// EX_OSFILE: what the shipment refers to is not here.
    case missingBase = 72
    /// EX_CANTCREAT: it cannot be installed.
    case cannotInstall = 73
    /// EX_IOERR: an error of the system's input or output.
    case inputOutput = 74
    /// EX_TEMPFAIL: try again.
    case tryAgain = 75
    /// EX_PROTOCOL: the peer broke the protocol.
    case protocolBroken = 76
    /// EX_NOPERM: not trusted, or not allowed.
    case notPermitted = 77
    /// What a shell says of a program that SIGHUP, SIGINT or SIGTERM ended.
    case hungUp = 129
    case interrupted = 130
    case terminated = 143
}

extension ExitStatus {
    init(_ signal: StopSignals.Signal) {
        self =
            switch signal {
            case .hangUp: .hungUp
            case .interrupt: .interrupted
            case .terminate: .terminated
            }
    }
}

/// A command line that makes no sense, in the words and the shape of every other error.
struct UsageExplanation {
    let cause: PrintableText
    let hint: PrintableText

    /// - Parameters:
    ///   - message: ArgumentParser's, a sentence.
    ///   - command: The subcommand's name, if one was given.
    init(_ message: String, of command: String?) {
        let line = message.split(whereSeparator: \.isNewline).joined(separator: " ").split(separator: " ")
            .joined(separator: " ")
        let sentence = line.hasSuffix(".") ? line.dropLast() : Substring(line)
        cause = "\(sentence.prefix(1).lowercased())\(sentence.dropFirst())"
        hint = "see `ship-store \(command.map { $0 + " " } ?? "")--help`"
    }
}
