import Synchronization

/// How hard a producer tries to make few bytes.
public enum Effort: Hashable, Sendable {
    /// It follows the link: the smallest bytes on a slow one, the quickest way on a fast one.
    case auto
    case level(CompressionLevel)

    /// The level at which a shipment goes into a file, where time does not matter.
    package var levelIntoFile: CompressionLevel {
        switch self {
        case .auto: .smallest
        case .level(let level): level
        }
    }
}

/// How encoders work from now on: whoever sends turns it, whoever encodes looks at it before each piece.
package final class EffortDial: Sendable {
    /// Whether what is encoded is likely to be sent.
    package enum Prospect: Hashable, Sendable {
        case lasting
        /// The link is being tried: soon it may turn out that the store goes otherwise. Nothing is done that can wait.
        case onTrial
    }

    private let current: Mutex<(level: CompressionLevel, prospect: Prospect)>

    package init(_ level: CompressionLevel, _ prospect: Prospect = .lasting) {
        current = Mutex((level, prospect))
    }

    package var level: CompressionLevel { current.withLock { $0.level } }
    package var prospect: Prospect { current.withLock { $0.prospect } }

    package func turn(to level: CompressionLevel, _ prospect: Prospect = .lasting) {
        current.withLock { $0 = (level, prospect) }
    }
}
