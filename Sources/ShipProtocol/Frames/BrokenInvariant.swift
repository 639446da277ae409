/// A step that this side should never take: a flaw of this program, and not a breach by the other side.
package struct BrokenInvariant: Error, Hashable, Sendable {
    /// For the people who mend it.
    package let what: String

    package init(_ what: String) { self.what = what }
}
