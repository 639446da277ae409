package import ShipProtocol

/// In which encoding a store goes, and how hard the encoder works, as the link turns out to be. A value: what happened goes in,
/// what to do comes out.
///
///     on a slow link   the fewest bytes: by its rows, at the highest effort
///     on a fast one    the least time: in blocks, at the lowest effort
///
/// A link's speed shows in how long it keeps the sender waiting. Before anything was sent there is only the round trip: what
/// takes milliseconds is no cable within one machine, and the buffers on the way would hide its pace for a long time.
package struct SendingPolicy: Hashable, Sendable {
    /// What is known of the link from the start.
    package enum Link: Hashable, Sendable {
        /// Time does not matter, and nobody knows over which link it goes later.
        case file
        /// Nobody can tell what is behind it.
        case pipe
        /// - Parameter roundTrip: How soon the other side answered.
        case twoWay(roundTrip: Duration)
    }

    /// What to do next.
    package enum Step: Hashable, Sendable {
        /// At `level`.
        case goOn
        /// Take the rows back, and send the store in blocks.
        case changeToBlocks
    }

    /// Below it a shipment goes by its rows, and is not worth a look at the link's pace: in bytes.
    private static let smallSize: Int64 = 4 * 1024 * 1024
    /// From here on a round trip is one over a slow link; within a machine that is busy the other side's answer takes up to 5.
    private static let slowRoundTrip = Duration.milliseconds(8)
    /// So much of a store has to be sent before a link is known to be fast, in bytes: about the first three segments, of which
    /// buffers on the way take no small part.
    private static let trial: Int64 = 768 * 1024
    /// So much the buffers on the way over a slow link may hold, in bytes on the wire.
    private static let slowLinkBuffers: Int64 = 2 * 1024 * 1024
    /// A link that takes so much keeps nobody waiting: the other side does, which has to decode and write, and perhaps on the
    /// same cores. In bytes a second.
    private static let fastRate = 16_000_000.0

    /// Of the store.
    package private(set) var encoding: PartEncoding
    package private(set) var level: CompressionLevel
    /// Whether the level follows the link.
    private let isFollowing: Bool
    /// Bytes on the wire before a link that takes everything at once is believed.
    private let trustedAfter: Int64
    private let storeSize: Int64
    private var mayChange = false
    /// Whether the link is a fast one, as far as its round trip tells.
    private var seemsFast = false
    private var pace = LinkPace()
    /// Over all that was sent on trial.
    private var trialPace = LinkPace(shortest: .milliseconds(4))
    private var (storeBytes, wireBytes) = (Int64(0), Int64(0))

    /// - Parameters:
    ///   - encoding: What both sides can do, and the user did not forbid.
    ///   - storeSize: In bytes.
    ///   - totalSize: Of all that goes, in bytes.
    package init(_ effort: Effort, _ encoding: PartEncoding, over link: Link, storeSize: Int64, totalSize: Int64) {
        self.encoding = encoding
        self.storeSize = storeSize
        switch (effort, link) {
        case (.level(let level), _):
            (self.level, isFollowing, trustedAfter) = (level, false, 0)
        case (.auto, .file):
            (level, isFollowing, trustedAfter) = (effort.levelIntoFile, false, 0)
        case (.auto, .twoWay(let roundTrip)) where totalSize < Self.smallSize && roundTrip < Self.slowRoundTrip:
            // Nearly as few bytes, in a third of the time.
            (level, isFollowing, trustedAfter) = (.quick, false, 0)
        case (.auto, _) where totalSize < Self.smallSize:
            (level, isFollowing, trustedAfter) = (.smallest, false, 0)
        case (.auto, .pipe):
            (level, isFollowing, trustedAfter) = (.standard, true, 0)
        case (.auto, .twoWay(let roundTrip)) where roundTrip >= Self.slowRoundTrip:
            (level, isFollowing, trustedAfter) = (.smallest, true, Self.slowLinkBuffers)
        case (.auto, .twoWay):
            // What the first pieces cost is lost on a fast link, and made up for soon on another.
            (level, isFollowing, trustedAfter) = (.fastest, true, 0)
            mayChange = encoding == .columns && storeSize >= Self.smallSize
            seemsFast = true
        }
    }

    /// Something was sent.
    ///
    /// - Parameters:
    ///   - storeBytes: Of the store, that it stands for; 0 for another part.
    ///   - wireBytes: That it was encoded to.
    ///   - encoding: How long the sender waited for it.
    ///   - waiting: How long the link took to take it.
    package mutating func sent(
        storeBytes: Int64, wireBytes: Int64, encoding: Duration, waiting: Duration
    ) -> Step {
        self.storeBytes += storeBytes
        self.wireBytes += wireBytes
        pace.add(encoding: encoding, waiting: waiting, wireBytes: wireBytes)
        if mayChange {
            trialPace.add(encoding: encoding, waiting: waiting, wireBytes: wireBytes)
            if self.storeBytes >= Self.trial, let isFast = isFastOnTrial {
                mayChange = false
                // Past the middle nothing is won by it.
                if isFast, self.storeBytes < storeSize / 2 {
                    changeToBlocks()
                    return .changeToBlocks
                }
            }
        }
        if isFollowing, let share = pace.waitingShare { follow(share) }
        return .goOn
    }

    /// What a delta may come to before it is better to send all of the store, in bytes: where they count, what all of it takes at the
    /// least; where the link may be a fast one, so much that to encode it takes about as long as to send all.
    package var deltaLimit: Int64 { max(Self.smallSize / 4, seemsFast ? storeSize / 8 : storeSize) }

    /// Whether what is sent now may soon be taken back.
    package var prospect: EffortDial.Prospect { mayChange ? .onTrial : .lasting }

    private var isFastOnTrial: Bool? {
        trialPace.waitingShare.map { $0 < 0.25 || trialPace.linkRate >= Self.fastRate }
    }

    /// The store goes in blocks from here on, for whatever reason.
    package mutating func changeToBlocks() {
        encoding = .blocks
        mayChange = false
        pace = LinkPace()
    }

    /// The store goes on in the encoding in which it was begun in an earlier session: the link is not tried.
    package mutating func stayWithEncoding() { mayChange = false }

    /// One step at a time, but two where even ten times the work would not be felt.
    private mutating func follow(_ share: Double) {
        switch share {
        case 0.5... where pace.linkRate >= Self.fastRate: break
        case 0.9...: level = level.harder.harder
        case 0.5..<0.9: level = level.harder
        case ..<0.1 where wireBytes >= trustedAfter && (encoding == .blocks || level != .fastest): level = level.easier
        default: break
        }
        pace = LinkPace()
    }
}
