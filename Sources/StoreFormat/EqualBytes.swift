import CLibrary

extension [UInt8] {
    /// Whether both have the same bytes. `==` compares one byte after the other, which takes several times as long.
    package func hasSameBytes(as other: [UInt8]) -> Bool {
        count == other.count && hasSameBytes(as: other, in: indices)
    }

    /// The same of a part of each, at the same place.
    package func hasSameBytes(as other: [UInt8], in range: Range<Int>) -> Bool {
        self[range].withUnsafeBytes { bytes in
            other[range].withUnsafeBytes { other in
                guard let first = bytes.baseAddress, let second = other.baseAddress else { return range.isEmpty }
                return memcmp(first, second, range.count) == 0
            }
        }
    }
}
