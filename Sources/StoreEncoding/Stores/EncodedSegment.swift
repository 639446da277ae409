/// An encoded piece of a store: the content of one DATA frame of the encodings `columns` and `delta`.
package struct EncodedSegment: Hashable, Sendable {
    /// 1 to `Limits.segmentSize` bytes.
    package let bytes: [UInt8]
    /// Bytes of the store that the segment stands for, about. The sum over all segments is the store's size. It serves the progress
    /// display and the estimate of the encoder's pace.
    package let storeBytes: Int64
    /// The setting that an encoder needs to continue after this segment: see `PieceNote`.
    package let setting: UInt64
    package var isLast: Bool

    package init(bytes: [UInt8], storeBytes: Int64, setting: UInt64 = 0, isLast: Bool = false) {
        self.bytes = bytes
        self.storeBytes = storeBytes
        self.setting = setting
        self.isLast = isLast
    }
}
