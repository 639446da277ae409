/// Numbers of the same width, all first bytes first, then all second ones.
enum BytePlanes {
    /// - Returns: Bytes that the number takes, at least 1.
    static func width(of value: UInt64) -> Int { max(1, (71 - value.leadingZeroBitCount) / 8) }

    static func bytes(of values: [UInt64], width: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: values.count * width) { bytes, count in
            values.withUnsafeBufferPointer { values in
                for plane in 0..<width {
                    let shift = UInt64(8 * (width - 1 - plane))
                    let start = plane * values.count
                    for index in 0..<values.count {
                        bytes[start &+ index] = UInt8(truncatingIfNeeded: values[index] &>> shift)
                    }
                }
            }
            count = values.count * width
        }
    }

    /// - Parameter bytes: `count` times `width` of them.
    static func values(of bytes: ArraySlice<UInt8>, width: Int, count: Int) -> [UInt64] {
        var values = [UInt64](repeating: 0, count: count)
        bytes.withUnsafeBufferPointer { bytes in
            values.withUnsafeMutableBufferPointer { values in
                for plane in 0..<width {
                    let start = plane * count
                    for index in 0..<count { values[index] = values[index] &<< 8 | UInt64(bytes[start &+ index]) }
                }
            }
        }
        return values
    }

    /// Strings of the same length, all first bytes first.
    static func transposed(_ strings: Strings, length: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: strings.count * length) { bytes, count in
            strings.bytes.withUnsafeBufferPointer { source in
                for (row, start) in strings.starts.enumerated() {
                    for place in 0..<length { bytes[place &* strings.count &+ row] = source[Int(start) &+ place] }
                }
            }
            count = strings.count * length
        }
    }
}
