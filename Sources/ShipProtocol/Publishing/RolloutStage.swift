/// A stage of a rollout: which share of the followers may take a state, and from when on.
///
/// Source: `Protocol/PUBLISHED.md` section 10.
package struct RolloutStage: Hashable, Sendable, Codable {
    /// In hundredths of a percent, of all followers.
    package let share: Int
    package let since: Timestamp

    /// All followers.
    package static let all = 10_000

    package init(share: Int, since: Timestamp) { (self.share, self.since) = (share, since) }
}

extension [RolloutStage] {
    var firstFlaw: String? {
        guard (1...Limits.rolloutStages).contains(count) else {
            return "no stages, or more than \(Limits.rolloutStages)"
        }
        guard allSatisfy({ (1...RolloutStage.all).contains($0.share) }) else { return "a share out of range" }
        return zip(self, dropFirst()).allSatisfy { $0.share < $1.share && $0.since <= $1.since }
            ? nil : "stages that do not rise"
    }
}

extension PublishedHead.Store {
    /// From when on a follower may take this state.
    ///
    /// - Parameter place: Of the follower among all: 0 to 9,999, the first one first.
    /// - Returns: `nil` if nobody has said so yet.
    package func start(for place: Int) -> Timestamp? {
        guard let rollout else { return asOf }
        return rollout.first { place < $0.share }?.since
    }

    fileprivate func isStarted(for place: Int, at time: Timestamp) -> Bool {
        rollout == nil || start(for: place).map { $0 <= time } ?? false
    }

    fileprivate func isForAll(at time: Timestamp) -> Bool { isStarted(for: RolloutStage.all - 1, at: time) }
}

/// The states of one store, the newest first.
extension [PublishedHead.Store] {
    /// The state that a follower at this place among all takes; `nil` for none yet.
    package func state(for place: Int, at time: Timestamp) -> PublishedHead.Store? {
        first { $0.isStarted(for: place, at: time) }
    }

    /// Those that some follower may still be to take.
    package func needed(at time: Timestamp) -> [PublishedHead.Store] {
        guard let index = firstIndex(where: { $0.isForAll(at: time) }) else { return self }
        return self[..<index] + [self[index].rolledOut(nil)]
    }

    /// The states once another one is published with its rollout, or for all followers at once.
    package func publishing(
        _ store: PublishedHead.Store, _ rollout: [RolloutStage]?, at time: Timestamp
    ) -> [PublishedHead.Store] {
        // It is as it was; or another program has published this one meanwhile.
        if let newest = first, newest.counter == store.counter {
            return ([store.rolledOut(newest.rollout)] + dropFirst()).needed(at: time)
        }
        guard let rollout else { return [store] }
        var others = needed(at: time)
        if others.count == Limits.statesOfStore { others.removeFirst() }
        return [store.rolledOut(rollout)] + others
    }
}
