/// The pages that were given to a tree before its rows came.
package struct KeptPages: Hashable, Sendable {
    /// The page before the first.
    package internal(set) var after: UInt32
    package let last: UInt32

    package init(after: UInt32, upTo last: UInt32) { (self.after, self.last) = (after, last) }

    package func contains(_ page: UInt32) -> Bool { page > after && page <= last }
}
