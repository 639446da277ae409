import DeviceTrust
import EssentialFoundation
import ShipProtocol

/// How a state that is published reaches its receivers: one share of them after another.
///
/// A receiver's share comes of its device and of the publication. So who is among the first is so each time, and the shares are as good as drawn.
public struct Rollout: Hashable, Sendable {
    /// A share of the receivers, and how long after publishing they may take the state.
    public struct Stage: Hashable, Sendable {
        /// In hundredths of a percent, 1 to 10,000, with those of the stages before.
        public let share: Int
        public let delay: Duration

        public init(share: Int, after delay: Duration = .zero) { (self.share, self.delay) = (share, delay) }
    }

    public let stages: [Stage]

    /// - Parameter stages: 1 to 16. Shares rise, delays do not fall. If the last share is not all, the others wait until the state is released.
    /// - Returns: `nil` for other stages.
    public init?(_ stages: [Stage]) {
        guard (1...Limits.rolloutStages).contains(stages.count),
            stages.allSatisfy({ (1...RolloutStage.all).contains($0.share) && $0.delay >= .zero }),
            zip(stages, stages.dropFirst()).allSatisfy({ $0.share < $1.share && $0.delay <= $1.delay })
        else { return nil }
        self.stages = stages
    }

    func stages(from time: Date) -> [RolloutStage] {
        stages.map {
            RolloutStage(share: $0.share, since: Timestamp(time.addingTimeInterval($0.delay / .seconds(1))))
        }
    }
}

extension PublishedHead {
    /// The place of a receiver among all of a publication: 0 to 9,999, the first one first.
    ///
    /// Source: `Protocol/PUBLISHED.md` section 10.
    func place(of device: DeviceIdentifier) -> Int {
        let text = Array("ship-store rollout v1".utf8) + publication.bytes + device.bytes
        return Int(UInt64(bigEndianBytes: ContentDigest(hashing: text).bytes.prefix(8)) % UInt64(RolloutStage.all))
    }
}
