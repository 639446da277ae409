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

    /// Which generations go: those beyond the number, and old enough. The current one never does; and while it is not among them none does:
    /// the others may be all that is left of the store.
    ///
    /// - Parameters:
    ///   - generations: The oldest first.
    ///   - rejected: Those from which an operator has gone back: they go before all others.
    ///   - age: Since a generation was installed. It is asked once of each.
    package func superfluous(
        of generations: [GenerationName], current: GenerationName?, rejected: Set<Int> = [],
        age: (GenerationName) -> Duration
    ) -> [GenerationName] {
        guard let current, generations.count > count, generations.contains(current) else { return [] }
        let others = generations.filter { $0 != current }.map { (name: $0, age: age($0)) }
        func isOld(_ age: Duration) -> Bool { duration.map { age > $0 } ?? true }
        guard others.contains(where: { isOld($0.age) }) else { return [] }
        let surplus = generations.count - count
        var going = Set(others.map(\.name).filter { rejected.contains($0.number) }.prefix(surplus))
        let rest = others.filter { !going.contains($0.name) }
        going.formUnion(Self.leastTelling(surplus - going.count, of: rest.map(\.age)).map { rest[$0].name })
        return others.filter { going.contains($0.name) && isOld($0.age) }.map(\.name)
    }

    /// Which ones go, one after the other: the oldest, or the one whose neighbours are closest without it.
    ///
    /// - Parameters:
    ///   - surplus: How many are to go.
    ///   - ages: Of the older ones first.
    /// - Returns: Their indexes.
    private static func leastTelling(_ surplus: Int, of ages: [Duration]) -> Set<Int> {
        // The newest stays in any case: it is one step back.
        let isThinned = ages.count - surplus > 1
        let oldest = isThinned ? min(surplus, ages.firstIndex { $0 <= reach } ?? surplus) : surplus
        var going = Set(0..<oldest)
        guard going.count < surplus else { return going }
        var (older, newer) = (ages.indices.map { $0 - 1 }, ages.indices.map { $0 + 1 })
        func ratio(_ index: Int) -> Double {
            guard index > oldest, index < ages.count - 1 else { return .infinity }
            return max(ages[older[index]], leastAge) / max(ages[newer[index]], leastAge)
        }
        var ratios = Tournament(ages.indices.map(ratio))
        while going.count < surplus {
            let next = ratios.least
            going.insert(next)
            (newer[older[next]], older[newer[next]]) = (newer[next], older[next])
            ratios.set(next, to: .infinity)
            for neighbour in [older[next], newer[next]] { ratios.set(neighbour, to: ratio(neighbour)) }
        }
        return going
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

    /// Which of those that go stay since suspended readers wait for them: the ones that were let go of last, `mostAwaited` of them.
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

/// The least of some values, found anew in few steps when one changes: they play each other off, two by two.
private struct Tournament {
    private var values: [Double]
    /// The winner of all is at 1. Who is at `n` has won over the other one of those at `2 * n` and `2 * n + 1`; the last are the values
    /// themselves.
    private var winners: [Int]

    /// - Parameter values: At least one.
    init(_ values: [Double]) {
        self.values = values
        winners = values.indices.map { _ in 0 } + values.indices
        for place in values.indices.reversed() where place > 0 { play(for: place) }
    }

    /// The index of the least, and of the first one among equals.
    var least: Int { winners[1] }

    mutating func set(_ index: Int, to value: Double) {
        values[index] = value
        var place = (index + values.count) / 2
        while place > 0 {
            play(for: place)
            place /= 2
        }
    }

    private mutating func play(for place: Int) {
        let (one, other) = (winners[2 * place], winners[2 * place + 1])
        winners[place] = (values[other], other) < (values[one], one) ? other : one
    }
}
