import EssentialFoundation
package import ShipProtocol
import StoreFiles
import SystemPackage

/// Which generations of one store were current a moment ago: `left.json`, beside its generations.
///
/// A plain reader resolves the public link first, and opens what it leads to then. What it has resolved must still be there,
/// although another generation has become current in between. Times are of the clock that runs from the system's start, which
/// nobody sets; of an earlier start they say nothing. So the record need not survive a power cut, and is not synced.
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
    /// - Returns: `nil` if nobody knows, or it was before the system's last start.
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
        self = .empty
        do {
            let file = try folder.file(at: path)
            let size = try file.size
            guard size <= Self.sizeLimit else { return }
            self = try JSONDecoder().decode(LeftRecord.self, from: Data(try file.read(Int(size), at: 0)))
        } catch {}
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
        do {
            let file = try folder.file(at: path)
            let size = try file.size
            guard size <= Self.sizeLimit else { return nil }
            self = try JSONDecoder().decode(LeaseRecord.self, from: Data(try file.read(Int(size), at: 0)))
        } catch {
            return nil
        }
    }
}
