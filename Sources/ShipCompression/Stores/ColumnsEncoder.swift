/// One piece of a store's rows, encoded: what one DATA of the encoding `columns` carries.
package struct EncodedSegment: Hashable, Sendable {
    /// 1 to `Limits.segmentSize` of them.
    package let bytes: [UInt8]
    /// Bytes of the store that it stands for, about: those of all segments come to the store's size. It is for the progress
    /// that people are shown, and for judging the encoder's pace.
    package let storeBytes: Int64
    /// What its encoder has to know to go on after it: see `PieceNote`.
    package let setting: UInt64

    /// Whether more segments follow.
    package enum Position: Hashable, Sendable {
        case more
        case last
    }

    package init(bytes: [UInt8], storeBytes: Int64, setting: UInt64 = 0) {
        self.bytes = bytes
        self.storeBytes = storeBytes
        self.setting = setting
    }
}

/// A store into segments.
package protocol ColumnsEncoder: Sendable {
    /// Encodes the whole store, or what follows the earlier pieces: the first segment then stands for theirs of the store, too.
    ///
    /// It is over when everything is delivered and, if it was asked for, the self-check is through: it may fail after the
    /// last segment too, for all that was delivered can be taken back until then.
    ///
    /// - Parameter deliver: Takes one segment after the other, the last one as such; while it waits, a bounded number of
    ///   others may be encoded ahead. What it throws ends the encoding, and is thrown on.
    /// - Throws: `ColumnsFailure`, `EarlierPieces.Mismatch`, what reading the store throws, and `CancellationError`.
    func encode(deliver: (EncodedSegment, EncodedSegment.Position) async throws -> Void) async throws
}
