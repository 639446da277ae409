import Foundation
import TestSupport
import Testing

/// Texts that do something to a terminal or to a reader, if they are printed as they are.
struct HostileText {
    private var random: RepeatableRandom
    /// What would look like the program's own word.
    static let forgery = "installed Recipes, generation 9, in 0.1 s"

    private static let pieces = [
        "\u{1B}[2J", "\u{1B}]0;title\u{7}", "\u{1B}[31m", "\u{9B}2J", "\u{9D}0;title\u{9C}", "\r", "\r\n\(forgery)\n",
        "\n\(forgery)\n", "\u{8}\u{8}\u{8}", "\u{B}", "\u{C}", "\u{7F}", "\u{85}", "\u{202E}etil", "\u{2066}x",
        "\u{2069}",
        "\u{200E}", "\u{200F}", "\u{61C}", "\u{200B}", "\u{200D}", "\u{2028}\(forgery)\u{2028}", "\u{2029}", "\u{FEFF}",
        "\u{AD}", "\u{E0041}", "\u{1}", "\u{E}",
    ]

    init(seed: UInt64) { random = RepeatableRandom(seed: seed) }

    /// A few of them, with a letter before and after; each of them comes sooner or later.
    mutating func next() -> String {
        let some = (0..<3).map { _ in Self.pieces[Int(random.next() % UInt64(Self.pieces.count))] }
        return "a\(some.joined())z"
    }

    /// Whether a terminal shows the character as a character. It is told apart here by what Unicode's chart says, not by what
    /// the program takes for unsafe.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A: true
        case 0..<0x20, 0x7F..<0xA0, 0xAD, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
            0xE0000...0xE007F:
            false
        default: true
        }
    }
}

extension ChildProgram.Outcome {
    /// Expects that nothing of what somebody else wrote has come through as it was, and that a program that was asked for JSON
    /// wrote that.
    func expectPlain(
        _ about: String, in texts: [String: String]? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (name, text) in texts ?? ["stdout": stdout, "stderr": stderr] {
            let scalars = text.unicodeScalars.filter { !HostileText.isPlain($0) }
            #expect(
                scalars.isEmpty, "\(name) has \(scalars.map { String($0.value, radix: 16) }) with \(about)",
                sourceLocation: sourceLocation)
            let lines = text.split(separator: "\n")
            #expect(!lines.contains { $0 == HostileText.forgery }, "\(name): \(about)", sourceLocation: sourceLocation)
        }
        // A reader that has been stopped is no program that crashed.
        if case .signalled(let signal) = status {
            Issue.record("signal \(signal) with \(about): \(stderr)", sourceLocation: sourceLocation)
        }
    }
}
