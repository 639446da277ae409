/// How a coordinator learns that another generation is current. Reads do not depend on it: they look themselves.
public enum Watching: Hashable, Sendable {
    /// The system tells, at once. Where it cannot, or has no more notices to give, as `polling` does.
    case automatic
    /// It looks again and again: for file systems whose changes the system does not see, as those of a network.
    /// No more often than each 10 ms.
    case polling(every: Duration)

    /// Between two looks where the system cannot tell.
    static let standardInterval = Duration.milliseconds(500)
    static let leastInterval = Duration.milliseconds(10)
    /// When to look although the system said nothing: it does not say everything, as of a file system of a network.
    static let secondLook = Duration.seconds(10)
}
