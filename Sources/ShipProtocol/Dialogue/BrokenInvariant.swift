/// A step that this side should never take: a flaw of its own, which is not the other side's breach.
package struct BrokenInvariant: Error, Hashable, Sendable {
    /// For people who mend it.
    package let what: String

    package init(_ what: String) { self.what = what }
}
