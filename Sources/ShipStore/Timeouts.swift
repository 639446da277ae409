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
    /// From the open link to a producer's manifest, whole, however often it says meanwhile that it is at work: it takes the
    /// copy, of a store whose size nobody has been told yet.
    public var preparing: Duration
    /// How long the other side may be at work with nothing to show for it, however often it says so, beside a second for
    /// each megabyte of the shipment: see `work(on:)`.
    public var work: Duration
    /// Bytes a second of content that a producer sends at the least once its shipment has been accepted, and that a consumer
    /// takes, over any minute of waiting for them, and for the work that the size of the shipment may cost; 0 for as few as
    /// it likes, but not none.
    public var leastRate: Int
    /// That minute.
    package var rateWindow = Duration.seconds(60)

    /// Bytes a second that the slowest side copies, encodes, decodes, sorts or checks.
    private static let slowestWork = 1_000_000.0

    public init(
        connect: Duration = .seconds(10), hello: Duration = .seconds(10), idle: Duration = .seconds(30),
        preparing: Duration = .seconds(1800), work: Duration = .seconds(600), leastRate: Int = 100
    ) {
        self.connect = connect
        self.hello = hello
        self.idle = idle
        self.preparing = preparing
        self.work = work
        self.leastRate = leastRate
    }

    /// How long the other side may take over a shipment of so many bytes, beside the time that its bytes take on the way:
    /// for its answer, while another shipment of the same store comes in first, and to verify and install it.
    func work(on size: Int64) -> Duration { work + Self.workTime(for: size) }

    /// Over how long content must come, or go, at `leastRate`: as long as either side may have to work between two pieces.
    func rateWindow(for size: Int64) -> Duration { rateWindow + Self.workTime(for: size) }

    private static func workTime(for size: Int64) -> Duration { .seconds(Double(max(0, size)) / slowestWork) }

    /// How often one says that one is still at work.
    var heartbeat: Duration { min(.seconds(5), idle / 3) }
}
