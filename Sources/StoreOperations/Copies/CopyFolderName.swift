import ShipProtocol

/// The name of a kept copy's folder: `<name>-<yyyyMMddTHHmmss>`, with `-2` and so on for further copies in one second.
struct CopyFolderName: Hashable {
    let store: StoreName
    /// 15 characters: `yyyyMMddTHHmmss`, UTC.
    let time: String
    /// From 1.
    let ordinal: Int

    private static let timeLength = 15

    init(_ store: StoreName, at time: Timestamp, ordinal: Int) {
        self.store = store
        self.time = time.compactText
        self.ordinal = ordinal
    }

    /// - Returns: `nil` for the names of other folders.
    init?(_ text: String) {
        var fields = text.split(separator: "-", omittingEmptySubsequences: false)
        var ordinal = 1
        if let last = fields.last.flatMap({ Int($0) }), last > 1, fields.count > 2 {
            ordinal = last
            fields.removeLast()
        }
        guard fields.count > 1, let time = fields.popLast(), Self.isTime(time),
            let store = StoreName(fields.joined(separator: "-"))
        else { return nil }
        self.store = store
        self.time = String(time)
        self.ordinal = ordinal
        guard self.text == text else { return nil }
    }

    private static func isTime(_ text: Substring) -> Bool {
        text.utf8.count == timeLength
            && text.utf8.enumerated().allSatisfy { index, byte in
                index == 8 ? byte == UInt8(ascii: "T") : byte.isDigit
            }
    }

    var text: String { "\(store)-\(time)\(ordinal == 1 ? "" : "-\(ordinal)")" }
}
