/// The effort of deflate: 1 is the fastest, 9 the smallest.
public struct CompressionLevel: Hashable, Sendable {
    public static let range = 1...9
    /// 6, as with gzip and zlib.
    public static let standard = CompressionLevel(unchecked: 6)

    package let value: Int32

    /// - Returns: `nil` out of 1...9.
    public init?(_ value: Int) {
        guard Self.range.contains(value) else { return nil }
        self.value = Int32(value)
    }

    private init(unchecked value: Int32) { self.value = value }
}
