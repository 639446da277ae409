extension ValueKind {
    /// Values that stores have seldom.
    static let odd = [
        ValueKind("nothing") { _ in { _, _ in .null } },
        ValueKind("empty") { _ in { choices, _ in choices.pick([.text(""), .blob([]), .null]) } },
        ValueKind("text with NULs", "TEXT") { _ in
            { choices, _ in
                .text(
                    choices.sentence(choices.below(4)) + String(repeating: "\0", count: choices.below(4))
                        + choices.word())
            }
        },
        ValueKind("bad UTF-8", "TEXT") { _ in { choices, _ in .badText(choices.bytes(choices.length(upTo: 30))) } },
        ValueKind("bytes", "BLOB") { choices in
            let most = choices.pick([4, 40, 2000])
            return { choices, _ in .blob(choices.bytes(choices.length(upTo: most))) }
        },
        ValueKind("runs of one byte", "BLOB") { choices in
            let (byte, most) = (choices.pick([0, 0, 0x20, 0xff] as [UInt8]), choices.pick([3000, 3000, 60_000]))
            return { choices, _ in .blob([UInt8](repeating: byte, count: choices.length(upTo: most))) }
        },
        ValueKind("periods", "BLOB") { choices in
            let period = choices.bytes(choices.number(in: 1...60))
            return { choices, _ in
                .blob((0..<choices.below(30)).flatMap { _ in period } + choices.bytes(choices.below(3)))
            }
        },
        ValueKind("any kind") { _ in
            { choices, _ in
                switch choices.below(6) {
                case 0: .null
                case 1: .integer(choices.integer())
                case 2: .real(Double(choices.below(1000)) / 8)
                case 3: .text(choices.sentence(2))
                case 4: .blob(choices.bytes(choices.below(9)))
                default: .integer(Int64(choices.below(2)))
                }
            }
        },
        ValueKind("same shape, any kind") { choices in
            let kinds = (0..<7).map { _ in choices.below(4) }
            return { choices, place in
                switch kinds[place.row % 7] {
                case 0: .null
                case 1: .integer(Int64(place.row))
                case 2: .text(choices.word())
                default: .real(Double(place.row) / 4)
                }
            }
        },
        // A quarter of a megabyte is where a row is not held in memory any more.
        ValueKind("long value", "BLOB") { _ in
            { choices, place in
                guard choices.below(20) == 0 else { return .null }
                let count = choices.pick([5_000, 70_000, 262_000, 262_144, 300_000, 300_000, 2_000_000])
                let period =
                    choices.chance(50) ? choices.bytes(choices.pick([1, 7, 4_000])) : Array(choices.sentence(900).utf8)
                var bytes: [UInt8] = []
                while bytes.count < count { bytes += period }
                if place.isEdited { bytes[bytes.count / 3] ^= 0x55 }
                return .blob(bytes)
            }
        },
    ]

    /// Texts that NOCASE and RTRIM take for the same, or order otherwise than by all of their bytes: NOCASE stops at a NUL.
    package static let alike = ValueKind("texts that collate alike", "TEXT") { choices in
        let words = (0...choices.below(4)).map { _ in choices.word() }
        return { choices, _ in
            let word = choices.pick(words)
            return .text(
                (choices.chance(40) ? word.uppercased() : word) + String(repeating: " ", count: choices.below(3))
                    + (choices.chance(40) ? "\0" + choices.word() : ""))
        }
    }

    /// Columns that follow from those before them.
    static let derived = [
        ValueKind("copy of a column") { choices in
            let back = choices.number(in: 1...40)
            return { choices, place in earlier(place, back) ?? .integer(choices.integer()) }
        },
        ValueKind("nearly a copy") { choices in
            let back = choices.number(in: 1...4)
            return { choices, place in choices.below(20) == 0 ? .text(choices.word()) : earlier(place, back) ?? .null }
        },
        ValueKind("columns joined", "TEXT") { choices in
            let (first, second, between) = (
                choices.number(in: 1...5), choices.number(in: 1...5), choices.pick(["", " ", "/", ", "])
            )
            return { _, place in .text(words(place, first) + between + words(place, second)) }
        },
        ValueKind("follows from a column") { choices in
            let (back, kinds) = (choices.number(in: 1...5), choices.number(in: 1...6))
            return { _, place in
                .integer(Int64(words(place, back).utf8.reduce(7) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % kinds))
            }
        },
        ValueKind("offset of a column", "INTEGER") { choices in
            let (back, offset) = (choices.number(in: 1...5), Int64(choices.below(1000)))
            return { choices, place in
                guard case .integer(let value)? = earlier(place, back) else { return .integer(Int64(place.row)) }
                return .integer(value &+ offset &+ Int64(choices.below(3)))
            }
        },
        ValueKind("part of a column", "TEXT") { choices in
            let (back, length) = (choices.number(in: 1...5), choices.number(in: 1...9))
            return { _, place in .text(String(words(place, back).prefix(length))) }
        },
        ValueKind("length of a column", "INTEGER") { choices in
            let back = choices.number(in: 1...5)
            return { _, place in .integer(Int64(words(place, back).count)) }
        },
    ]

    private static func earlier(_ place: Place, _ back: Int) -> Cell? {
        back <= place.earlier.count ? place.earlier[place.earlier.count - back] : place.earlier.last
    }

    private static func words(_ place: Place, _ back: Int) -> String {
        switch earlier(place, back) {
        case .text(let text)?: text
        case .integer(let value)?: "\(value)"
        case .real(let value)?: "\(value)"
        case .blob(let bytes)?: "\(bytes.count)"
        case .badText, .null, nil: ""
        }
    }
}
