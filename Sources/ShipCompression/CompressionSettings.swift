import Synchronization

/// How encoders work from now on. The sender sets it as the link turns out to be; an encoder reads it before each piece.
package final class CompressionSettings: Sendable {
    private let current: Mutex<(level: CompressionLevel, isOnTrial: Bool)>

    package init(_ level: CompressionLevel, isOnTrial: Bool = false) {
        current = Mutex((level, isOnTrial))
    }

    package var level: CompressionLevel { current.withLock { $0.level } }
    /// Whether the sender is trying the link: it may soon send the store in another encoding. An encoder does nothing then that can wait.
    package var isOnTrial: Bool { current.withLock { $0.isOnTrial } }

    package func set(_ level: CompressionLevel, isOnTrial: Bool = false) {
        current.withLock { $0 = (level, isOnTrial) }
    }
}
