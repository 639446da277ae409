import StoreFiles
import SystemPackage

/// Which generations of one store were current a moment ago: `left.json`, beside its generations.
///
/// A plain reader resolves the public link first, and opens what it leads to then. What it has resolved must still be there,
/// although another generation has become current in between. Times are of the clock that runs since the system's start, which
/// cannot be set; after a restart they say nothing. So the record need not survive a power cut, and is not synced.
package struct LeftRecord: Hashable, Sendable, Codable {
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
    static let sizeLimit: Int64 = 16 * 1024

    package static let empty = LeftRecord(entries: [])

    /// How long ago a generation was left.
    ///
    /// - Returns: `nil` if that is unknown, or was before the system's last start.
    package func age(of generation: GenerationName, at now: Duration = PlatformCalls.timeSinceStart) -> Duration? {
        guard let entry = entries.last(where: { $0.generation == generation.text }) else { return nil }
        let age = now - .milliseconds(entry.at)
        return age < .zero ? nil : age
    }

    /// Another generation becomes current now; entries that are older than the grace are forgotten.
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
