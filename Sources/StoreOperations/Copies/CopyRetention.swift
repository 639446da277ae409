import EssentialFoundation
public import ShipProtocol

/// Which kept copies have had their time.
///
/// What counts as one store: copies of one identity (Core Data's `Z_UUID`) and name; where a copy has no identity, those
/// of the store at one path; where it remembers no path either, those of one name and one schema.
public struct CopyRetention: Hashable, Sendable {
    /// How many of the newest copies of each store stay, of those that this is about.
    public var kept: Int
    /// How long a copy stays in any case; `nil` for no time.
    public var age: Duration?
    /// Only copies with this tag are looked at; `nil` for those without any tag: whoever gave a copy a tag has it in mind.
    public var tag: CopyTag?

    /// How many stay unless somebody says otherwise: as many as generations.
    public static let standardCount = 3

    public init(keeping kept: Int = standardCount, for age: Duration? = nil, tagged tag: CopyTag? = nil) {
        self.kept = kept
        self.age = age
        self.tag = tag
    }

    /// - Returns: What may go, in the order of `copies`.
    public func expired(of copies: [KeptCopy], at now: Timestamp) -> [KeptCopy] {
        let candidates = copies.filter { copy in tag.map { copy.tags.contains($0) } ?? copy.tags.isEmpty }
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
