/// Which generations of a store stay: the current one, the newest of the others, and of the rest those that tell most of the last day.
///
/// A store may change each second, and the newest three would be of the last three seconds then. So older ones are thinned: their ages are
/// about as far from each other, by their ratios, as their number allows. What is older than a day goes first.
public struct Retention: Hashable, Sendable {
    /// How many, the current one included; at least 1.
    public let count: Int
    /// Those beyond that number stay for this long after they were installed; `nil` for not at all.
    public let duration: Duration?
    /// A generation stays for this long after another one became current: a plain reader may have resolved the public link and
    /// not yet opened the file.
    package let grace: Duration
    /// A generation that a suspended reader has let go of stays for this long, so that the reader finds it again after a short
    /// absence. It does not stay for ever, as the reader may never come back.
    package let suspensionGrace: Duration

    /// Within this time generations are thinned.
    private static let reach = Duration.seconds(24 * 60 * 60)
    /// Ages below this are all the same.
    private static let leastAge = Duration.seconds(1)
    /// How many may stay for the sake of `grace` alone.
    package static let mostInGrace = 2
    package static let standardGrace = Duration.seconds(2)
    /// How many may stay for the sake of `suspensionGrace` alone.
    package static let mostAwaited = 2
    package static let standardSuspensionGrace = Duration.seconds(60 * 60)

    public init(count: Int, duration: Duration? = nil) {
        self.init(count: count, duration: duration, grace: Self.standardGrace)
    }

    package init(
        count: Int, duration: Duration? = nil, grace: Duration,
        suspensionGrace: Duration = standardSuspensionGrace
    ) {
        self.count = max(1, count)
        self.duration = duration
        self.grace = grace
        self.suspensionGrace = suspensionGrace
    }

    /// The same, where the room is needed: what suspended readers have let go of need not stay.
    package var withoutSuspensionGrace: Retention {
        Retention(count: count, duration: duration, grace: grace, suspensionGrace: .zero)
    }

    /// Which generations go: those beyond the number, and old enough. The current one never does.
    ///
    /// - Parameters:
    ///   - generations: The oldest first.
    ///   - rejected: Those from which an operator has gone back: they go before all others.
    ///   - age: Since a generation was installed.
    package func superfluous(
        of generations: [GenerationName], current: GenerationName?, rejected: Set<Int> = [],
        age: (GenerationName) -> Duration
    ) -> [GenerationName] {
        var kept = generations.filter { $0 != current }.map { ($0, age: age($0)) }
        var superfluous: Set<GenerationName> = []
        while kept.count > count - 1 {
            let next =
                kept.firstIndex { rejected.contains($0.0.number) }
                ?? Self.leastTelling(of: kept.map(\.age), count: count - 1)
            superfluous.insert(kept.remove(at: next).0)
        }
        return generations.filter { generation in
            superfluous.contains(generation) && duration.map { age(generation) > $0 } ?? true
        }
    }

    /// Which one goes: the oldest, or the one whose neighbours are closest without it.
    ///
    /// - Parameters:
    ///   - ages: Of the older ones first.
    ///   - count: How many are to stay.
    private static func leastTelling(of ages: [Duration], count: Int) -> Int {
        // The newest stays in any case: it is one step back.
        guard count > 1, ages.count > 2, let oldest = ages.first, oldest <= reach else { return 0 }
        let gaps = (1..<(ages.count - 1)).map {
            (index: $0, ratio: max(ages[$0 - 1], leastAge) / max(ages[$0 + 1], leastAge))
        }
        return gaps.min { $0.ratio < $1.ratio }?.index ?? 0
    }

    /// Which of those that go stay for a moment all the same: the ones that were left last, `mostInGrace` of them.
    ///
    /// - Parameter left: How long ago a generation was current; `nil` if that is unknown.
    /// - Returns: For how long each still stays.
    package func spared(
        of superfluous: [GenerationName], left: (GenerationName) -> Duration?
    ) -> [GenerationName: Duration] {
        Self.youngest(Self.mostInGrace, of: superfluous, within: grace, age: left)
    }

    /// Which of those that go stay since suspended readers wait for them: the ones that were let go of last, `mostAwaited` of
    /// them.
    ///
    /// - Parameter letGo: Since a generation was let go of; `nil` if no suspended reader waits for it.
    /// - Returns: For how long each still stays.
    package func awaited(
        of superfluous: [GenerationName], letGo: (GenerationName) -> Duration?
    ) -> [GenerationName: Duration] {
        Self.youngest(Self.mostAwaited, of: superfluous, within: suspensionGrace, age: letGo)
    }

    private static func youngest(
        _ most: Int, of generations: [GenerationName], within grace: Duration, age: (GenerationName) -> Duration?
    ) -> [GenerationName: Duration] {
        let young = generations.compactMap { generation in
            age(generation).flatMap { $0 < grace ? (generation, grace - $0) : nil }
        }
        return Dictionary(uniqueKeysWithValues: young.sorted { $0.1 > $1.1 }.prefix(most))
    }
}
