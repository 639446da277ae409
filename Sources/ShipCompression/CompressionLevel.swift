/// The effort of deflate: 1 is the fastest, 9 the smallest that is worth a user's wait.
public struct CompressionLevel: Hashable, Sendable {
    /// The levels that a user may choose.
    public static let range = 1...9
    /// 6, as with gzip and zlib.
    public static let standard = CompressionLevel(unchecked: 6)

    /// Bytes stay as they are: for links that take them faster than any level compresses them.
    package static let stored = CompressionLevel(unchecked: 0)
    package static let fastest = CompressionLevel(unchecked: 1)
    package static let quick = CompressionLevel(unchecked: 3)
    /// libdeflate's last: some 2 % smaller than 9, in three times its time.
    package static let smallest = CompressionLevel(unchecked: 12)

    /// libdeflate's number, 0 to 12.
    package let value: Int32

    /// - Returns: `nil` out of 1...9.
    public init?(_ value: Int) {
        guard Self.range.contains(value) else { return nil }
        self.value = Int32(value)
    }

    /// - Returns: `nil` out of 0...12.
    init?(recorded value: UInt64) {
        guard value <= UInt64(Self.smallest.value) else { return nil }
        self.value = Int32(value)
    }

    private init(unchecked value: Int32) { self.value = value }
}

extension CompressionLevel {
    /// The levels between which the sender moves with the link, each a good deal slower than the one before.
    private static let ladder = [
        stored, fastest, quick, standard, CompressionLevel(unchecked: 9), smallest,
    ]

    /// The next step up; the last one's is itself.
    package var harder: CompressionLevel { Self.ladder.first { $0.value > value } ?? .smallest }

    /// The next step down; the first one's is itself.
    package var easier: CompressionLevel { Self.ladder.last { $0.value < value } ?? .stored }
}
