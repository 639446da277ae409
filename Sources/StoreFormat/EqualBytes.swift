extension [UInt8] {
    /// Whether both have the same bytes. `==` compares one byte after the other, which takes several times as long.
    package func hasSameBytes(as other: [UInt8]) -> Bool {
        count == other.count
            && withUnsafeBytes { bytes in other.withUnsafeBytes { Self.areEqual(bytes, $0) } }
    }

    /// The same of a part of each, at the same place.
    package func hasSameBytes(as other: [UInt8], in range: Range<Int>) -> Bool {
        withUnsafeBytes { bytes in
            other.withUnsafeBytes {
                Self.areEqual(
                    UnsafeRawBufferPointer(rebasing: bytes[range]), UnsafeRawBufferPointer(rebasing: $0[range]))
            }
        }
    }

    private static func areEqual(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Bool {
        func word(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt64 {
            bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        }
        var place = 0
        while place + 32 <= first.count {
            let difference =
                (word(first, place) ^ word(second, place)) | (word(first, place + 8) ^ word(second, place + 8))
                | (word(first, place + 16) ^ word(second, place + 16))
                | (word(first, place + 24) ^ word(second, place + 24))
            guard difference == 0 else { return false }
            place += 32
        }
        return first[place...].elementsEqual(second[place...])
    }
}
