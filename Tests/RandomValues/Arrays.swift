extension ValueKind {
    /// Arrays of doubles and floats: geometry, embeddings, time series.
    static let arrays = [
        ValueKind("points of neighbours", "BLOB") { choices in
            let origin = (Double(choices.below(180)), Double(choices.below(90)))
            return { choices, place in
                // The border of an area is shared with the next one, the other way round.
                var border = line(place.row, origin, count: choices.number(in: 2...40))
                let next = line(place.row + 1, origin, count: choices.number(in: 2...40))
                if place.isEdited { border[0] += 0.5 }
                let points = border + next.reversed()
                return .blob(
                    [1, 3, 0, 0, 0] + littleEndian(UInt64(points.count / 2), 4)
                        + points.flatMap { littleEndian($0.bitPattern, 8) })
            }
        },
        ValueKind("embedding", "BLOB") { choices in
            let count = choices.pick([8, 64, 384])
            return { choices, _ in
                .blob(
                    (0..<count).flatMap { _ in
                        littleEndian(UInt64((Float(choices.below(2000) - 1000) / 1024).bitPattern), 4)
                    })
            }
        },
        ValueKind("time series", "BLOB") { choices in
            let isBig = choices.chance(20)
            return { choices, place in
                var (value, bytes) = (20.0, [UInt8]())
                for _ in 0..<choices.length(upTo: 200) {
                    value += Double(choices.below(21) - 10) / 16
                    let number = littleEndian(value.bitPattern, 8)
                    bytes += isBig ? number.reversed() : number
                }
                if place.isEdited, bytes.count > 8 { bytes[7] ^= 1 }
                return .blob(bytes)
            }
        },
        ValueKind("array of integers", "BLOB") { choices in
            let width = choices.pick([2, 4, 8])
            return { choices, _ in
                var number = UInt64(choices.below(1 << 16))
                return .blob(
                    (0..<choices.length(upTo: 200)).flatMap { _ in
                        number &+= UInt64(choices.below(50))
                        return littleEndian(number, width)
                    })
            }
        },
    ]

    private static func line(_ number: Int, _ origin: (Double, Double), count: Int) -> [Double] {
        var points: [Double] = []
        for place in 0..<count {
            let turn = UInt64(bitPattern: Int64(number &* 1_000_003 &+ place)) &* 0x9E37_79B9_7F4A_7C15
            points.append(origin.0 + Double(turn >> 44) / 1_048_576)
            points.append(origin.1 + Double(turn >> 24 & 0xFFFFF) / 1_048_576)
        }
        return points
    }

    private static func littleEndian(_ value: UInt64, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }
}
