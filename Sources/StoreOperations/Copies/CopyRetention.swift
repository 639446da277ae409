import EssentialFoundation
public import ShipProtocol

/// Which kept copies expire.
///
/// What counts as one store: copies of one identity (Core Data's `Z_UUID`) and name; where a copy has no identity, those
/// of the store at one path. A copy of a damaged store stays, and does not count.
public struct CopyRetention: Hashable, Sendable {
    /// How many of the newest copies of each store stay, of those that this is about.
    public var kept: Int
    /// The age at which a copy may expire; `nil` for any age.
    public var age: Duration?
    /// Only copies with this tag may expire; `nil` for those without any tag: a tagged copy is wanted.
    public var tag: CopyTag?

    /// How many stay by default: as many as generations.
    public static let standardCount = 3

    /// - Parameters:
    ///   - kept: How many stay of each store. By default `standardCount`, but none of those that a restore has kept, which nobody has
    ///     asked for.
    ///   - age: The age at which a copy may expire; `nil` for any age.
    ///   - tag: Only copies with this tag may expire; `nil` for those without any tag.
    public init(keeping kept: Int? = nil, for age: Duration? = nil, tagged tag: CopyTag? = nil) {
        self.kept = kept ?? (tag?.text == CopyTag.beforeRestore ? 0 : Self.standardCount)
        self.age = age
        self.tag = tag
    }

    /// - Returns: What may go, in the order of `copies`.
    public func expired(of copies: [KeptCopy], at now: Timestamp) -> [KeptCopy] {
        let candidates = copies.filter { copy in
            copy.damage == nil && (tag.map { copy.tags.contains($0) } ?? copy.tags.isEmpty)
        }
        let newest = Dictionary(grouping: candidates, by: \.original).values.flatMap { ofStore in
            ofStore.sorted { KeptCopy.isOlder($1, $0) }.prefix(max(0, kept))
        }
        let staying = Set(newest)
        return candidates.filter { copy in
            guard !staying.contains(copy) else { return false }
            guard let age else { return true }
            return now.date.timeIntervalSince(copy.manifest.createdAt.date) > age / .seconds(1)
        }
    }
}
