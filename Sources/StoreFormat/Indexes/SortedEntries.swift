/// Sorted entries, one after the other.
package struct SortedEntries {
    enum Source {
        /// The rest of them.
        case held([UInt8], [Range<Int>])
        case merged(RunMerge)
    }

    private let source: Source
    private var place = 0

    init(_ source: Source) { self.source = source }

    /// Hands out the next entry.
    ///
    /// - Returns: Whether there was one.
    package mutating func next(_ body: (Span<UInt8>) throws -> Void) throws -> Bool {
        switch source {
        case .held(let bytes, let ranges):
            guard place < ranges.count else { return false }
            try body(bytes.span.extracting(ranges[place]))
            place += 1
            return true
        case .merged(let merge): return try merge.next(body)
        }
    }
}
