extension ValueKind {
    /// Texts as people and programs write them.
    package static let texts = [
        ValueKind("sentence", "TEXT") { choices in
            let most = choices.pick([3, 10, 40, 300])
            return { choices, place in
                .text(choices.sentence(choices.length(upTo: most), isEdited: place.isEdited))
            }
        },
        ValueKind("UTF-16", "BLOB") { choices in
            let (most, isBigEndian) = (choices.pick([3, 10, 40, 300]), choices.chance(30))
            let broken = choices.chance(20)
            return { choices, place in
                let text = choices.sentence(choices.length(upTo: most), isEdited: place.isEdited)
                let units = text.utf16 + (broken && choices.chance(2) ? [0xd83d] : [])
                return .blob(units.flatMap { unit in [unit >> 8, unit & 255].map { UInt8($0) } }.swapped(!isBigEndian))
            }
        },
        ValueKind("few texts", "VARCHAR") { choices in
            let few = (0...choices.below(12)).map { _ in choices.sentence(choices.below(6)) }
            return { choices, _ in .text(choices.pick(few)) }
        },
        ValueKind("numbered", "TEXT") { choices in
            let (head, tail) = (choices.word(), choices.pick(["", ".jpg", " of 100"]))
            let step = choices.pick([1, 7_919])
            return { _, place in .text("\(head) \(place.row * step)\(tail)") }
        },
        ValueKind("path", "TEXT") { choices in
            let folders = (0..<8).map { _ in
                "/" + (0...choices.below(4)).map { _ in choices.word() }.joined(separator: "/")
            }
            return { choices, _ in .text("\(choices.pick(folders))/\(choices.word())\(choices.below(500)).txt") }
        },
        ValueKind("URL", "TEXT") { choices in
            let hosts = (0..<5).map { _ in "https://www.\(choices.word()).example/" }
            return { choices, _ in
                .text(
                    "\(choices.pick(hosts))\(choices.word())/\(choices.word())?id=\(choices.below(100_000))&q=\(choices.word())#\(choices.word())"
                )
            }
        },
        ValueKind("address of mail", "TEXT") { choices in
            let hosts = (0..<4).map { _ in "\(choices.word()).example" }
            return { choices, _ in
                .text("\(choices.word()).\(choices.word())\(choices.below(90))@\(choices.pick(hosts))")
            }
        },
        ValueKind("address of a host", "TEXT") { _ in
            { choices, _ in .text("192.168.\(choices.below(4)).\(choices.below(256))") }
        },
        ValueKind("number in digits", "TEXT") { choices in
            let width = choices.number(in: 1...25)
            return { choices, _ in
                let digits = String(choices.bits())
                return .text(String(repeating: "0", count: max(0, width - digits.count)) + digits)
            }
        },
        ValueKind("version", "TEXT") { _ in
            { choices, _ in
                .text("\(choices.below(4)).\(choices.below(20)).\(choices.below(100))-rc\(choices.below(3))")
            }
        },
        ValueKind("padded", "CHAR(20)") { _ in
            { choices, _ in
                let word = choices.word()
                return .text(word + String(repeating: " ", count: choices.below(12)))
            }
        },
        ValueKind("similar long texts", "TEXT") { choices in
            let (long, seed) = (choices.sentence(choices.number(in: 50...800)), choices.word())
            return { choices, place in
                let cut = long.index(long.startIndex, offsetBy: choices.below(long.count))
                return .text("\(long[..<cut])\(place.isEdited ? "edited" : seed)\(long[cut...])")
            }
        },
        ValueKind("prose", "TEXT") { choices in
            let vocabulary = (0..<choices.number(in: 50...3000)).map { _ in choices.inventedWord() }
            let (most, odd) = (choices.number(in: 20...1500), choices.pick(["\u{1}", "\u{1f}", "\u{7f}", "\u{fffd}"]))
            return { choices, place in
                let words = (0..<choices.number(in: 1...most)).map { _ -> String in
                    let end = choices.chance(10) ? choices.pick([", ", ".\n", "; ", "-", "  ", odd]) : " "
                    return vocabulary[choices.below(choices.below(vocabulary.count) + 1)] + end
                }
                return .text(words.joined() + (place.isEdited ? "edited" : ""))
            }
        },
    ]
}

extension [UInt8] {
    /// The bytes of units of 16 bits, each unit the other way round, if they are to be.
    fileprivate func swapped(_ areSwapped: Bool) -> [UInt8] {
        areSwapped ? indices.map { self[$0 ^ 1] } : self
    }
}
