/// Which generations of a store stay.
public struct Retention: Hashable, Sendable {
    /// How many, the current one included; at least 1.
    public let count: Int
    /// Those beyond that number stay for this long after they were installed; `nil` for not at all.
    public let duration: Duration?

    public init(count: Int, duration: Duration? = nil) {
        self.count = max(1, count)
        self.duration = duration
    }

    /// Which generations go: those beyond the newest, and old enough. The current one never does.
    ///
    /// - Parameters:
    ///   - generations: The oldest first.
    ///   - age: Since a generation was installed.
    package func superfluous(
        of generations: [GenerationName], current: GenerationName?, age: (GenerationName) -> Duration
    ) -> [GenerationName] {
        generations.filter { $0 != current }.dropLast(count - 1).filter { generation in
            duration.map { age(generation) > $0 } ?? true
        }
    }
}
