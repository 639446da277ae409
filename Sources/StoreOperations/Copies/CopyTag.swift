import ShipProtocol

/// A word by which a user finds a kept copy again. It travels in the copy's metadata, as a pair whose key begins with
/// `tag.` and whose value is empty.
public struct CopyTag: Hashable, Sendable, Comparable {
    public let text: String

    /// The tag of the safety copies that restores keep.
    public static let beforeRestore = "before-restore"

    private static let prefix = "tag."

    /// - Throws: `.badTag` unless it is 1 to 60 letters, digits, dots, dashes and underscores, so that the key keeps to
    ///   the rules of metadata.
    public init(_ text: String) throws(OperationError) {
        guard !text.isEmpty, Manifest.firstFlaw(ofMetadata: [Self.prefix + text: ""]) == nil else {
            throw .badTag(text)
        }
        self.text = text
    }

    private init?(key: String) {
        guard key.hasPrefix(Self.prefix), key.utf8.count > Self.prefix.utf8.count else { return nil }
        text = String(key.dropFirst(Self.prefix.count))
    }

    package var pair: (key: String, value: String) { (Self.prefix + text, "") }

    /// The tags in a copy's metadata, sorted, and the user's other pairs.
    static func split(_ metadata: [String: ForeignText]) -> (tags: [CopyTag], rest: [String: ForeignText]) {
        let tags = metadata.keys.compactMap(CopyTag.init(key:))
        return (tags.sorted(), metadata.filter { CopyTag(key: $0.key) == nil })
    }

    public static func < (left: CopyTag, right: CopyTag) -> Bool { left.text < right.text }
}
