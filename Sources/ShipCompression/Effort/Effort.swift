import Synchronization

/// How hard a producer tries to make few bytes.
public enum Effort: Hashable, Sendable {
    /// It follows the link: the smallest bytes on a slow one, the quickest way on a fast one.
    case auto
    case level(CompressionLevel)
}

/// The level at which encoders work from now on: whoever sends turns it, whoever encodes looks at it before each piece.
package final class EffortDial: Sendable {
    private let current: Mutex<CompressionLevel>

    package init(_ level: CompressionLevel) {
        current = Mutex(level)
    }

    package var level: CompressionLevel {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
