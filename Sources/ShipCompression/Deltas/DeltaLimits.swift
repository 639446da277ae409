/// What neither side of a delta goes beyond, checked before anything is allocated.
///
/// Source: `Protocol/DELTA.md` section 3.
package enum DeltaLimits {
    /// Events of one part.
    static let events = 262_144
    /// Rows of one part that are edited.
    static let edits = 262_144
    /// Values of all edited rows of a part together.
    static let editedValues = 1_048_576
    /// Sets of columns of one part.
    static let sets = 65_536
    /// Columns in all sets of a part together.
    static let setColumns = 1_048_576
    /// Bytes of base rows that a segment may refer to.
    static let dictionarySize = 1_048_576
    /// Runs of rows that they are taken from.
    static let dictionaryRuns = 16
    /// Bytes of one copy.
    static let copySize: UInt64 = 1 << 31
    /// Indexes of a table that are merged.
    static let merged = 64
}

/// Why a delta cannot be made.
package enum DeltaFailure: Error, Hashable, Sendable {
    /// It would be larger than what it was given.
    case tooLarge
    /// One of the files is not one that a delta is made of.
    case unsuitable
    /// What was encoded does not decode to the file, as the self-check found.
    case selfCheckFailed
}
