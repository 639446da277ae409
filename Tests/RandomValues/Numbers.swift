extension ValueKind {
    /// Integers as columns have them.
    static let numbers = [
        ValueKind("counter", "INTEGER") { choices in
            let (first, step) = (choices.integer(), Int64(choices.pick([1, 1, 1, 2, 10, -3, 1 << 40])))
            return { _, place in .integer(first &+ Int64(place.row) &* step) }
        },
        ValueKind("few integers", "INTEGER") { choices in
            let few = (0...choices.below(6)).map { _ in choices.integer() }
            return { choices, _ in .integer(choices.pick(few)) }
        },
        ValueKind("flag", "BOOL") { choices in
            let percent = choices.pick([1, 10, 50, 99])
            return { choices, _ in .integer(choices.chance(percent) ? 1 : 0) }
        },
        ValueKind("constant", "INTEGER") { choices in
            let value = choices.integer()
            return { _, _ in .integer(value) }
        },
        ValueKind("noise", "INTEGER") { choices in
            let bits = choices.number(in: 1...64)
            return { choices, _ in .integer(Int64(bitPattern: choices.bits(upTo: bits))) }
        },
        ValueKind("any integer") { _ in { choices, _ in .integer(choices.integer()) } },
        ValueKind("end of an encoding") { _ in
            { choices, _ in
                let width = choices.pick([7, 8, 15, 16, 23, 24, 31, 32, 47, 48, 63])
                let end = width == 63 ? Int64.max : 1 << Int64(width)
                return .integer((choices.chance(50) ? end : -end) &+ Int64(choices.below(3) - 1))
            }
        },
        ValueKind("walk", "INTEGER") { choices in
            let steps = choices.pick([3, 100, 70_000])
            let start = Int64(choices.below(1 << 40))
            return { choices, place in .integer(start + Int64(place.row * steps / 2 + choices.below(steps))) }
        },
        ValueKind("runs", "INTEGER") { choices in
            let length = choices.number(in: 2...60)
            return { _, place in .integer(Int64(place.row / length) &* 7_919 % 101) }
        },
    ]

    static let reals = [
        ValueKind("price", "REAL") { choices in
            let parts = choices.pick([4.0, 8, 10, 100, 1000])
            return { choices, _ in .real(Double(choices.below(1_000_000)) / parts) }
        },
        ValueKind("price beside others", "REAL") { choices in
            let (digits, every) = (choices.number(in: 0...12), choices.pick([3, 9, 40, 400]))
            let others = (0...choices.below(3)).map { _ in choices.pick([1.0 / 3, 0.5, 1e-15, 1e17, .infinity, -0.0]) }
            return { choices, _ in
                let price = (0..<digits).reduce(Double(choices.below(100_000))) { price, _ in price / 10 }
                let real = choices.below(every) == 0 ? price * choices.pick(others) : price
                return .real(real.isNaN ? -0.0 : real)
            }
        },
        ValueKind("whole real", "REAL") { _ in { choices, _ in .real(Double(choices.below(1000))) } },
        ValueKind("coordinate", "DOUBLE") { choices in
            let middle = Double(choices.below(180))
            return { choices, _ in .real(middle + Double(choices.below(1 << 30)) / Double(1 << 30)) }
        },
        ValueKind("any real") { _ in
            { choices, _ in
                let real = Double(bitPattern: UInt64(bitPattern: choices.integer()))
                return .real(real.isNaN ? -0.0 : real)
            }
        },
        ValueKind("end of reals", "REAL") { _ in
            { choices, _ in
                .real(
                    choices.pick([
                        0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0x1p63,
                        -0x1p63, 0x1p53, 9_007_199_254_740_994, 1e15, 0.1,
                    ]))
            }
        },
    ]
}
