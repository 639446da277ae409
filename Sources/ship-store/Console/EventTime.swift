import EssentialFoundation
import ShipStore
import StoreFiles

/// When something happened, to the millisecond, UTC: `2026-11-20T19:04:05.123Z`.
struct EventTime: Encodable {
    private let text: String

    /// Now.
    init() {
        let (seconds, attoseconds) = PlatformCalls.timeOfDay.components
        let digits = String(1000 + attoseconds / 1_000_000_000_000_000).dropFirst()
        text = "\(Timestamp(Date(timeIntervalSince1970: Double(seconds))).text.dropLast()).\(digits)Z"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
