/// How long a listener goes on.
public enum Persistence: Hashable, Sendable {
    case untilCancelled
    /// Until the first session is over of a peer that may ship, or be shipped to, successful or not. A peer that only connects, pairs, or
    /// has no permission does not count.
    case once
}
