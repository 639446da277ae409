public import DeviceTrust

/// How stores are published.
public struct Publishing: Sendable {
    /// How long after it was issued a head counts, unless a newer one takes its place.
    public var validity = Duration.seconds(30 * 24 * 3600)
    /// How often a publisher that follows its stores issues a new head, though nothing has changed.
    public var reissuing = Duration.seconds(3600)
    /// How long an object stays after the first head that does not need it.
    public var grace = Duration.seconds(24 * 3600)
    /// Whom what is published is encrypted for, beside this device: 100 at most. Empty for everybody who can read the place.
    ///
    /// Where others are named than before, all stores that are published there have to be published anew, as wholes.
    public var recipients: Set<EncryptionKey> = []
    /// Which receivers may take what is published, and when; `nil` for all, at once.
    ///
    /// A rollout is of the states that are published with it. What is published without one reaches all at once, whatever is being rolled out.
    public var rollout: Rollout?

    public init() {}
}
