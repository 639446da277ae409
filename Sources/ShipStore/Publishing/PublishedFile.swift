/// A file of a publication that an app is to fetch: see `Consumer.receive(published:report:fetching:)`.
public struct PublishedFile: Hashable, Sendable {
    /// The rest of its URL: `head`, or `objects/` and 64 digits. What has one of the latter names never changes.
    public let path: String
    /// Of how many bytes it needs no more.
    public let sizeLimit: Int64
    /// Whether to ask past all caches, because one of them has shown an older one.
    public let isFresh: Bool
}
