import ShipProtocol

/// The code that one user shows and the other types, once, so that their devices trust each other: six digits.
public struct PairingCode: Hashable, Sendable {
    private static let digits = 6

    /// Six ASCII digits.
    let bytes: [UInt8]

    /// A new one.
    public init() {
        bytes = (0..<Self.digits).map { _ in UInt8.random(in: UInt8(ascii: "0")...UInt8(ascii: "9")) }
    }

    /// Reads a code with or without spaces and dashes.
    ///
    /// - Returns: `nil` unless there are six digits.
    public init?(_ text: String) {
        let characters = text.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "-") }
        guard characters.count == Self.digits,
            characters.allSatisfy(\.isDigit)
        else { return nil }
        bytes = Array(characters)
    }

    /// `482-913`.
    public var text: String {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.prefix(Self.digits / 2) + "-" + text.suffix(Self.digits / 2)
    }
}
