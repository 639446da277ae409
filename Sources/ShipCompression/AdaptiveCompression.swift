package import ShipProtocol

/// Chooses the encoding of a store and the level of the encoder, as the link turns out to be. A pure value: the sender tells it what
/// happened, and it tells the sender what to do.
///
///     on a slow link   the fewest bytes: by its rows, at the highest effort
///     on a fast one    the least time: in blocks, at the lowest effort
///
/// The time that the sender waits for the link shows how fast it is. Before the first piece only the round trip is known: a link that
/// takes milliseconds leaves the machine, and buffers on the way would hide its pace for a long time.
package struct AdaptiveCompression: Hashable, Sendable {
    /// The sender's knowledge of the link at the start.
    package enum Link: Hashable, Sendable {
        /// Time does not matter, and over which link the file goes later is unknown.
        case file
        /// The sender cannot tell what is behind it.
        case pipe
        /// - Parameter limit: The most bytes a second that may go.
        case twoWay(roundTrip: Duration, limit: Int? = nil)

        fileprivate var isSlow: Bool {
            guard case .twoWay(let roundTrip, let limit) = self else { return false }
            return roundTrip >= slowRoundTrip || limit ?? .max <= slowLimit
        }
    }

    /// A smaller shipment goes by its rows, and does not last long enough to measure the link. In bytes.
    private static let smallSize: Int64 = 4 * 1024 * 1024
    /// A round trip of this time or more is one over a slow link. Within a busy machine an answer takes up to 5 ms.
    private static let slowRoundTrip = Duration.milliseconds(8)
    /// The same for a small shipment, as machines are busier yet: the highest effort takes 0.4 s of CPU more for a megabyte, for two bytes
    /// less in a hundred, which pays only on a link of some 20 kB a second.
    private static let slowRoundTripForSmall = Duration.milliseconds(16)
    /// A link that may take no more than so many bytes a second is slow. Up to it, deflating takes less time than what that saves.
    private static let slowLimit = 1_000_000
    /// How much of a store the sender sends before it knows a link to be fast, in bytes: about the first three segments. Buffers on the
    /// way take a good part of them.
    private static let trial: Int64 = 768 * 1024
    /// The most that buffers on the way over a slow link hold, in bytes on the wire.
    private static let slowLinkBuffers: Int64 = 2 * 1024 * 1024
    /// At this rate, in bytes a second, the sender does not wait for the link but for the other side, which decodes and writes, perhaps on
    /// the same cores.
    private static let fastRate = 16_000_000.0

    /// The encoding of the store.
    package private(set) var encoding: PartEncoding
    package private(set) var level: CompressionLevel
    /// Whether the level follows the link.
    private let isFollowing: Bool
    /// A link that takes everything at once counts as fast only after this many bytes on the wire.
    private let trustedAfter: Int64
    private let storeSize: Int64
    private var mayChange = false
    /// Whether the round trip is one of a fast link.
    private var seemsFast = false
    private var pace = LinkPace()
    /// Whether the link has been fast beyond what buffers on the way hold.
    private var wasFast = false
    /// Over all pieces that were sent on trial.
    private var trialPace = LinkPace(shortest: .milliseconds(4))
    private var (storeBytes, wireBytes) = (Int64(0), Int64(0))

    /// - Parameters:
    ///   - encoding: What both sides can do, and the user did not forbid.
    ///   - storeSize: In bytes.
    ///   - totalSize: Of all that goes, in bytes.
    package init(_ effort: Effort, _ encoding: PartEncoding, over link: Link, storeSize: Int64, totalSize: Int64) {
        self.encoding = encoding
        self.storeSize = storeSize
        let isSlow = link.isSlow
        switch (effort, link) {
        case (.level(let level), _):
            (self.level, isFollowing, trustedAfter) = (level, false, 0)
        case (.auto, .file):
            (level, isFollowing, trustedAfter) = (effort.levelIntoFile, false, 0)
        case (.auto, .twoWay(let roundTrip, _))
        where totalSize < Self.smallSize && roundTrip < Self.slowRoundTripForSmall:
            (level, isFollowing, trustedAfter) = (isSlow ? .standard : .quick, false, 0)
        case (.auto, _) where totalSize < Self.smallSize:
            (level, isFollowing, trustedAfter) = (.smallest, false, 0)
        case (.auto, .pipe):
            (level, isFollowing, trustedAfter) = (.standard, true, 0)
        case (.auto, .twoWay) where isSlow:
            (level, isFollowing, trustedAfter) = (.smallest, true, Self.slowLinkBuffers)
        case (.auto, .twoWay):
            // A fast link does not make up for what the first pieces cost; another does so soon.
            (level, isFollowing, trustedAfter) = (.fastest, true, 0)
            mayChange = encoding == .columns && storeSize >= Self.smallSize
            seemsFast = true
        }
    }

    /// The sender has sent a piece.
    ///
    /// - Parameters:
    ///   - storeBytes: How many bytes of the store the piece stands for; 0 for another part.
    ///   - wireBytes: How many bytes it was encoded to.
    ///   - encoding: How long the sender waited for it.
    ///   - waiting: How long the link took to take it.
    /// - Returns: Whether to take the rows back and to send the store in blocks, because the link is fast. Otherwise the sender goes on,
    ///   at `level`.
    package mutating func sent(storeBytes: Int64, wireBytes: Int64, encoding: Duration, waiting: Duration) -> Bool {
        self.storeBytes += storeBytes
        self.wireBytes += wireBytes
        pace.add(encoding: encoding, waiting: waiting, storeBytes: storeBytes, wireBytes: wireBytes)
        if mayChange {
            trialPace.add(encoding: encoding, waiting: waiting, storeBytes: storeBytes, wireBytes: wireBytes)
            if self.storeBytes >= Self.trial, let isFast = isFastOnTrial {
                mayChange = false
                // Past the middle it saves nothing.
                if isFast, self.storeBytes < storeSize / 2 {
                    changeToBlocks()
                    return true
                }
            }
        }
        if isFollowing, let share = pace.waitingShare { follow(share) }
        return false
    }

    /// The most bytes of a delta. On a slow link it is the size of the store, and the encoder compares the delta with the encoded store; on one
    /// that may be fast, a delta whose encoding takes about as long as sending the store.
    package var deltaLimit: Int64 { max(Self.smallSize / 4, seemsFast ? storeSize / 8 : storeSize) }

    /// Whether the sender may soon take back what it sends now.
    package var isOnTrial: Bool { mayChange }

    private var isFastOnTrial: Bool? {
        trialPace.waitingShare.map { $0 < 0.25 || trialPace.linkRate >= Self.fastRate }
    }

    /// The store goes in blocks from here on, for whatever reason.
    package mutating func changeToBlocks() {
        encoding = .blocks
        mayChange = false
        pace = LinkPace()
    }

    /// The sender goes on in the encoding of an earlier session, and does not try the link.
    package mutating func stayWithEncoding() { mayChange = false }

    /// Moves one level at a time, but two where the link is so slow that even ten times the work would not show.
    private mutating func follow(_ share: Double) {
        if seemsFast, wireBytes >= Self.slowLinkBuffers, pace.linkRate >= Self.fastRate { wasFast = true }
        switch share {
        case _ where encoding == .blocks && level == .fastest && pace.linkRate >= Self.fastRate && pace.isDeflateSlower:
            level = .stored
        case 0.5... where pace.linkRate >= Self.fastRate: break
        // What slows a fast link down later is most likely the other side, whose disk is busy: fewer bytes do not help it.
        case 0.5... where wasFast && encoding == .blocks:
            if level.value < CompressionLevel.quick.value { level = level.harder }
        case 0.9...: level = level.harder.harder
        case 0.5..<0.9: level = level.harder
        case ..<0.1 where wireBytes >= trustedAfter && (encoding == .blocks || level != .fastest): level = level.easier
        default: break
        }
        pace = LinkPace()
    }
}

/// The two things that a sender's time goes into: encoding, or waiting for the link.
private struct LinkPace: Hashable, Sendable {
    /// A shorter time tells nothing.
    private let shortest: Duration

    private var encoding = Duration.zero
    private var waiting = Duration.zero
    private var (storeBytes, wireBytes) = (Int64(0), Int64(0))

    init(shortest: Duration = .milliseconds(20)) { self.shortest = shortest }

    mutating func add(encoding: Duration, waiting: Duration, storeBytes: Int64, wireBytes: Int64) {
        self.storeBytes += storeBytes
        self.wireBytes += wireBytes
        self.encoding += max(.zero, encoding)
        self.waiting += max(.zero, waiting)
    }

    /// The part of the time that the sender waited for the link: 0 for a link that takes everything at once, 1 for one that an encoder
    /// need not hurry for. `nil` as long as too little time has passed.
    var waitingShare: Double? {
        let all = encoding + waiting
        return all < shortest ? nil : waiting / all
    }

    /// Whether the sender waited longer for deflated bytes than the link would take for those that deflate saves.
    var isDeflateSlower: Bool {
        guard 0 < wireBytes, wireBytes < storeBytes else { return false }
        return encoding > waiting * (Double(storeBytes - wireBytes) / Double(wireBytes))
    }

    /// The rate of the link while the sender waits for it, in bytes a second.
    var linkRate: Double { Double(wireBytes) / max(waiting / .seconds(1), 1e-9) }
}
