import EssentialFoundation
package import ShipProtocol
import StoreFiles
import SystemPackage

/// Which generations of a store stay.
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

/// Which generations of one store were current a moment ago: `left.json`, beside its generations.
///
/// A plain reader resolves the public link first, and opens what it leads to then. What it has resolved must still be there,
/// although another generation has become current in between. Times are of the clock that runs since the system's start, which
/// cannot be set; after a restart they say nothing. So the record need not survive a power cut, and is not synced.
package struct LeftRecord: Hashable, Sendable {
    /// The one that was left last is the last.
    private var entries: [Entry]

    private struct Entry: Hashable, Sendable, Codable {
        /// The name of its folder.
        let generation: String
        /// Milliseconds since the system's start.
        let at: Int64
    }

    /// Most entries: those that were left first are forgotten.
    private static let longest = 64
    /// Largest file that is read, in bytes.
    private static let sizeLimit: Int64 = 16 * 1024

    package static let empty = LeftRecord(entries: [])

    /// How long ago a generation was left.
    ///
    /// - Returns: `nil` if that is unknown, or was before the system's last start.
    package func age(of generation: GenerationName, at now: Duration = PlatformCalls.timeSinceStart) -> Duration? {
        guard let entry = entries.last(where: { $0.generation == generation.text }) else { return nil }
        let age = now - .milliseconds(entry.at)
        return age < .zero ? nil : age
    }

    /// Another generation becomes current now.
    ///
    /// - Parameter grace: How long an entry counts: older ones are forgotten.
    package func leaving(
        _ generation: GenerationName, grace: Duration, at now: Duration = PlatformCalls.timeSinceStart
    ) -> LeftRecord {
        let young = entries.filter { $0.generation != generation.text && counts($0, grace, now) }
        let entry = Entry(generation: generation.text, at: Int64(now / .milliseconds(1)))
        return LeftRecord(entries: Array((young + [entry]).suffix(Self.longest)))
    }

    /// Whether no entry counts any more.
    package func isOver(grace: Duration, at now: Duration = PlatformCalls.timeSinceStart) -> Bool {
        !entries.contains { counts($0, grace, now) }
    }

    private func counts(_ entry: Entry, _ grace: Duration, _ now: Duration) -> Bool {
        (.zero..<grace).contains(now - .milliseconds(entry.at))
    }
}

extension LeftRecord: Codable {
    /// - Returns: An empty record where there is none, or none that can be read: it is about seconds.
    init(at path: FilePath, in folder: borrowing OpenFolder) {
        self = folder.recordIfReadable(LeftRecord.self, at: path, upTo: Self.sizeLimit) ?? .empty
    }
}

/// That a generation of a store stays until a time, as a sender was told in a file: `leased.json` beside the generations. Of each store
/// one at most is named, the one that was told last.
package struct LeaseRecord: Hashable, Sendable {
    /// The name of its folder.
    private let generation: String
    /// By the clock on the wall.
    package let until: Timestamp

    /// Largest file that is read, in bytes.
    private static let sizeLimit: Int64 = 4096

    package init(of generation: GenerationName, until: Timestamp) {
        self.generation = generation.text
        self.until = until
    }

    /// Whether it keeps a generation.
    package func keeps(_ generation: GenerationName, at now: Timestamp = Timestamp(Date())) -> Bool {
        generation.text == self.generation && !isOver(at: now)
    }

    package func isOver(at now: Timestamp = Timestamp(Date())) -> Bool { until <= now }
}

extension LeaseRecord: Codable {
    /// - Returns: `nil` where there is none, or none that can be read: that a delta finds its base no more costs another file.
    init?(at path: FilePath, in folder: borrowing OpenFolder) {
        guard let record = folder.recordIfReadable(LeaseRecord.self, at: path, upTo: Self.sizeLimit) else { return nil }
        self = record
    }
}
