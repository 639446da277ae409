/// An object of a publication: it never changes, and its digest is its name.
///
/// Source: `Protocol/PUBLISHED.md` section 1.
package struct PublishedObject: Hashable, Sendable, Codable {
    package let sha256: ContentDigest
    /// In bytes.
    package let size: Int64

    package init(sha256: ContentDigest, size: Int64) { (self.sha256, self.size) = (sha256, size) }
}
