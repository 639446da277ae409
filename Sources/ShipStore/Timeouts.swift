/// How long one side waits for the other.
///
/// Source: `Protocol/README.md` section 6.3.
public struct Timeouts: Hashable, Sendable {
    /// Until a connection is there.
    public var connect: Duration
    /// From the open link to the other side's first words, whole.
    public var hello: Duration
    /// Without a byte from the other side while it has the word, or without a byte taken by it.
    public var idle: Duration
    /// Bytes a second that a producer sends at the least once its shipment has been accepted, over any minute of waiting
    /// for it; 0 for as few as it likes.
    public var leastRate: Int
    /// That minute.
    package var rateWindow = Duration.seconds(60)

    public init(
        connect: Duration = .seconds(10), hello: Duration = .seconds(10), idle: Duration = .seconds(30),
        leastRate: Int = 100
    ) {
        self.connect = connect
        self.hello = hello
        self.idle = idle
        self.leastRate = leastRate
    }

    /// How often one says that one is still at work.
    var heartbeat: Duration { min(.seconds(5), idle / 3) }
}
