/// How stores are published.
public struct Publishing: Sendable {
    /// How long after it was issued a head counts, unless a newer one takes its place.
    public var validity = Duration.seconds(30 * 24 * 3600)
    /// How often a publisher that follows its stores issues a new head, though nothing has changed.
    public var reissuing = Duration.seconds(3600)
    /// How long an object stays after the first head that does not need it.
    public var grace = Duration.seconds(24 * 3600)

    public init() {}
}
