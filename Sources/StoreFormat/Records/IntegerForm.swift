/// How a store writes the integers 0 and 1, by the schema format in its header.
package enum IntegerForm: Hashable, Sendable {
    /// By their serial type, without a byte: schema format 4.
    case modern
    /// As other integers, with a byte: schema formats below 4.
    case legacy

    /// The narrowest type that holds a value.
    @inlinable
    package func serialType(of value: Int64) -> UInt64 {
        if value & ~1 == 0 && self == .modern { return value == 0 ? SerialType.zero : SerialType.one }
        // The bits beside its sign.
        let bits = 64 - (value < 0 ? ~value : value).leadingZeroBitCount
        return bits < 8 ? 1 : bits < 16 ? 2 : bits < 24 ? 3 : bits < 32 ? 4 : bits < 48 ? 5 : 6
    }
}
