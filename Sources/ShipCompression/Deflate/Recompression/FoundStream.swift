/// A stream that was found in a string.
struct FoundStream {
    /// A trial to find out what makes it again.
    struct Trial {
        let hint: DeflateParameters?
        /// The most bytes that it was allowed to stand for.
        let limit: Int
        let result: DeflateRecompression?

        /// Whether another trial would end alike, unless its limit is too low for the result.
        func tells(limit: Int, hint: DeflateParameters?) -> Bool {
            guard let result else { return hint == self.hint && limit <= self.limit }
            return hint == self.hint || hint == result.parameters
        }
    }

    /// Its first byte, and the one behind its last, counted from the first of the string.
    let place: Range<Int>
    /// Its content; `nil` if it was not inflated.
    let content: [UInt8]?
    /// The last one.
    var trial: Trial?

    /// Bytes that are kept for it, beside those of the string.
    var size: Int { content?.count ?? trial?.result?.content.count ?? 0 }
}
