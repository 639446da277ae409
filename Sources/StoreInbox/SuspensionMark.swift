import EssentialFoundation
package import ShipProtocol
package import StoreFiles
import SystemPackage

/// That a reader let go of a generation as its app was suspended, and wants to find it again: an empty file beside the
/// generations, whose name says everything, so that it is there in one step or not at all.
///
///     suspended.7-3fa9c1d2.86400123.8f1c...29.0A3E...
///               generation milliseconds since the system's start, which start that was, and the reader's own id
///
/// It counts for `Retention.suspensionGrace`, by the clock that runs since the system's start: that one cannot be set, so that a step of
/// the wall clock changes nothing. After another start of the system it says nothing, as no reader of the time before is alive then.
package struct SuspensionMark: Hashable, Sendable {
    package let generation: GenerationName
    /// Milliseconds since the system's start.
    private let at: Int64
    /// Hexadecimal digits of `PlatformCalls.bootIdentifier`; empty where the system has none.
    private let start: String
    private let reader: UUID

    private static let prefix = "suspended"
    /// Longest name that is taken apart, in bytes.
    private static let longestName = 255

    package init(
        of generation: GenerationName, at now: Duration = PlatformCalls.timeSinceStart,
        start: String? = PlatformCalls.bootIdentifier
    ) {
        self.generation = generation
        at = Int64(now / .milliseconds(1))
        self.start = Self.digits(of: start)
        reader = UUID()
    }

    /// - Returns: `nil` for what is not the name of a mark.
    package init?(_ name: String) {
        guard name.utf8.count <= Self.longestName else { return nil }
        let fields = name.split(separator: ".", omittingEmptySubsequences: false)
        guard fields.count == 5, fields[0] == Self.prefix, let generation = GenerationName(String(fields[1])),
            let at = Int64(fields[2]), at >= 0, let reader = UUID(uuidString: String(fields[4]))
        else { return nil }
        self.generation = generation
        self.at = at
        start = String(fields[3])
        self.reader = reader
    }

    private static func digits(of start: String?) -> String {
        String((start ?? "").lazy.filter { $0.isASCII && $0.isHexDigit }.prefix(32))
    }

    package var name: String { "\(Self.prefix).\(generation.text).\(at).\(start).\(reader.uuidString)" }

    /// How long ago the reader let go.
    ///
    /// - Returns: `nil` if that was before the system's last start.
    package func age(
        at now: Duration = PlatformCalls.timeSinceStart, start: String? = PlatformCalls.bootIdentifier
    ) -> Duration? {
        let age = now - .milliseconds(at)
        // The mark's time is kept to the millisecond.
        return Self.digits(of: start) == self.start && age >= .milliseconds(-1) ? max(age, .zero) : nil
    }
}

extension [SuspensionMark] {
    /// How long ago a generation was let go of last.
    ///
    /// - Returns: `nil` if no suspended reader waits for it.
    package func age(of generation: GenerationName) -> Duration? {
        let (now, start) = (PlatformCalls.timeSinceStart, PlatformCalls.bootIdentifier)
        return compactMap { $0.generation == generation ? $0.age(at: now, start: start) : nil }.min()
    }
}

extension InboxFolder {
    /// The marks that suspended readers of a store have left, those that do not count any more included.
    package func suspensionMarks(of name: StoreName) -> [SuspensionMark] {
        let names = (try? files.names(in: layout.store(name))) ?? []
        return names.compactMap { SuspensionMark($0) }
    }

    /// - Throws: If this process may not write to the inbox.
    package func add(_ mark: SuspensionMark, of name: StoreName) throws(FileError) {
        _ = try files.makeFile(at: layout.store(name).appending(mark.name))
    }

    package func remove(_ mark: SuspensionMark, of name: StoreName) throws(FileError) {
        try files.removeFile(layout.store(name).appending(mark.name))
    }
}
