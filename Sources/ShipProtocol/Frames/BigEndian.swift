extension FixedWidthInteger where Self: UnsignedInteger {
    /// The number that the bytes spell, most significant first. Surplus leading bytes would be lost: give as many as fit.
    package init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self($1) }
    }
}

extension [UInt8] {
    package mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
