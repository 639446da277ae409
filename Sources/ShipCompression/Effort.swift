/// How hard a producer tries to make few bytes.
public enum Effort: Hashable, Sendable {
    /// The level follows the link: the fewest bytes on a slow link, the least time on a fast one.
    case auto
    case level(CompressionLevel)

    /// The level for a shipment that goes into a file, where time does not matter.
    package var levelIntoFile: CompressionLevel {
        switch self {
        case .auto: .smallest
        case .level(let level): level
        }
    }

    /// The effort for a whole of so many bytes that is published. Of a large store the last byte in a hundred costs eight times the time.
    package func ofWhole(storeSize: Int64) -> Effort {
        self == .auto && storeSize >= Self.largeSize ? .level(.standard) : self
    }

    private static let largeSize: Int64 = 16 * 1024 * 1024
}
