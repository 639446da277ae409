/// A note of a piece of an earlier session, by which an encoder goes on after it.
///
/// It is kept beside the piece. The file may have been tampered with since, so that an encoder checks a note before it uses it.
package struct PieceNote: Hashable, Sendable {
    /// As the file has it: the lowest bit is 1 for the last piece of a part, the others are the setting.
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// - Parameter setting: Below 2^63.
    package init(_ setting: UInt64, isLast: Bool) { rawValue = setting << 1 | (isLast ? 1 : 0) }

    package var isLast: Bool { rawValue & 1 == 1 }

    /// For `columns` the capacity of the segment, for `delta` the level, for `blocks` the decoded size in bytes.
    package var setting: UInt64 { rawValue >> 1 }
}
