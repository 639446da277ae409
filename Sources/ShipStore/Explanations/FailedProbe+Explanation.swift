import ShipProtocol
import StoreServing

extension FailedProbe {
    var explanation: Explanation {
        Explanation(
            "the probe `\(Self.shortened(probe.sql))` \(reason.words)",
            hint: "what was current stays; look into the store with `ship-store inspect`, or drop the probe")
    }

    /// Longest probe that is told whole, in characters: a refusal has room for what comes after it too.
    private static let longestText = 400

    private static func shortened(_ sql: String) -> PrintableText {
        let text = sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return text.count <= longestText ? "\(text)" : "\(text.prefix(longestText))..."
    }
}

extension FailedProbe.Reason {
    /// In characters.
    private static let longestValue = 60

    fileprivate var words: PrintableText {
        switch self {
        case .noRow: "gave no row"
        case .isNull: "gave NULL"
        case .isZero(let value): "gave \(value.unescaped.prefix(Self.longestValue)), which is not true"
        case .tookTooLong(let limit): "took longer than \(limit)"
        case .failed(let message): "failed: \(message)"
        }
    }
}
