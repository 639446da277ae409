import ArgumentParser
import ShipStore

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
