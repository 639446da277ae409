/// Checks whether a record whose bytes come piece by piece is canonical.
///
/// Source: `Protocol/CANONICAL.md` section 2.
package struct RecordCheck {
    private var walk = RecordWalk()
    private var hasNarrowIntegers = true

    package init() {}

    /// Takes the next bytes.
    ///
    /// - Returns: Whether the record is sound so far.
    package mutating func take(_ piece: Span<UInt8>, _ integers: IntegerForm) -> Bool {
        var isNarrow = hasNarrowIntegers
        let isSound = walk.feed(piece) { type, _, bytes in
            guard SerialType.isInteger(type) else { return }
            let value = CanonicalRecord.integer(type, in: bytes, at: 0)
            isNarrow = isNarrow && type == integers.serialType(of: value)
        }
        hasNarrowIntegers = isNarrow
        return isSound
    }

    /// Whether it is canonical and complete.
    package var isCanonical: Bool { walk.isAtEnd && hasNarrowIntegers && walk.hasShortestHeader }
}
