/// How long one side waits for the other. The defaults are those of the command line.
///
/// Source: `Protocol/README.md` section 6.3.
public struct Timeouts: Hashable, Sendable {
    /// Until a connection is open.
    public var connect: Duration
    /// From the open link until the other side's greeting is complete.
    public var hello: Duration
    /// Without a byte from the other side while it is its turn to send, or without a byte that it takes.
    public var idle: Duration
    /// From the open link until a producer's manifest is complete, however often it says meanwhile that it is at work: it takes the copy,
    /// and has not said yet how large the store is.
    public var preparing: Duration
    /// How long the other side may be at work without a result, however often it says so; a second for each megabyte of the shipment is
    /// added, see `work(on:)`.
    public var work: Duration
    /// How often each side of a session that stays says between two shipments that it is there, from 1 s to an hour; the longer time of both
    /// sides counts. A side that has heard nothing for that time and `idle` gives up.
    public var keepAlive = Duration.seconds(60)
    /// The minimum throughput, in bytes of content a second: a producer must send, and a consumer take, that much once a shipment has been
    /// accepted, over each `rateWindow` of waiting. 0 allows any throughput but none.
    public var minimumRate: Int
    /// Over how long that is measured; the time for the work that a shipment of its size may cost is added, as far as
    /// `largestClaim`: a shipment that claims to be larger gets no longer.
    package var rateWindow = Duration.seconds(60)
    private static let largestClaim: Int64 = 1_000_000_000

    /// Bytes a second that the slowest device copies, encodes, decodes, sorts or checks.
    private static let slowestWork = 1_000_000.0

    public init(
        connect: Duration = .seconds(10), hello: Duration = .seconds(10), idle: Duration = .seconds(30),
        preparing: Duration = .seconds(1800), work: Duration = .seconds(600), minimumRate: Int = 100
    ) {
        self.connect = connect
        self.hello = hello
        self.idle = idle
        self.preparing = preparing
        self.work = work
        self.minimumRate = minimumRate
    }

    /// How long the other side may work on a shipment of this size, without the time that the bytes take on the way: before its answer,
    /// while another shipment of the same store comes in first, and to verify and install the shipment.
    func work(on size: Int64) -> Duration { work + Self.workTime(for: size) }

    /// Over how long `minimumRate` is measured: as long as either side may work between two pieces of the content.
    func rateWindow(for size: Int64) -> Duration {
        rateWindow + Self.workTime(for: min(size, Self.largestClaim))
    }

    private static func workTime(for size: Int64) -> Duration { .seconds(Double(max(0, size)) / slowestWork) }

    /// How often a side that is at work says so.
    var heartbeat: Duration { min(.seconds(5), idle / 3) }
}
