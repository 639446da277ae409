extension ValueKind {
    /// Bytes that are spelled in other bytes, and messages of tagged fields.
    static let digits = [
        ValueKind("base64", "TEXT") { choices in
            let most = choices.pick([24, 300])
            let (isForURLs, isPadded) = (choices.chance(40), choices.chance(60))
            let (isText, breaks) = (choices.chance(60), choices.chance(10))
            return { choices, place in
                let bytes =
                    isText
                    ? Array(choices.sentence(choices.below(most / 4), isEdited: place.isEdited).utf8)
                    : choices.bytes(choices.length(upTo: most))
                let text = base64(bytes, isForURLs: isForURLs, isPadded: isPadded)
                return .text(breaks && choices.chance(5) ? text + "\n" : text)
            }
        },
        ValueKind("base64 within a text", "TEXT") { choices in
            let (isForURLs, isPadded) = (choices.chance(40), choices.chance(60))
            let length = choices.pick([Int.max, 64, 76, 4 * choices.number(in: 1...70)])
            let ending = choices.pick(["\n", "\r\n", "\\n", "\n\t", "; "])
            let (head, tail) = (
                choices.pick(["", "data:;base64,", "-- BEGIN --\(ending)"]), choices.pick(["", ".", ending])
            )
            return { choices, place in
                let parts = (0...choices.below(3)).map { _ in
                    let bytes = Array(choices.sentence(choices.below(60), isEdited: place.isEdited).utf8)
                    let text = base64(bytes, isForURLs: isForURLs, isPadded: isPadded)
                    return stride(from: 0, to: text.utf8.count, by: max(1, min(length, text.utf8.count))).map {
                        String(text.dropFirst($0).prefix(length))
                    }.joined(separator: choices.chance(95) ? ending : " ")
                }
                return .text(head + parts.joined(separator: choices.pick([".", "\n\n"])) + tail)
            }
        },
        hex("lower case", isUpper: false), hex("upper case", isUpper: true),
    ]

    private static func base64(_ bytes: [UInt8], isForURLs: Bool, isPadded: Bool) -> String {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        let alphabet = Array((letters + (isForURLs ? "-_" : "+/")).utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let three = bytes[start..<min(start + 3, bytes.count)]
            let bits = three.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - three.count))
            for place in 0..<4 where isPadded || place <= three.count {
                text.append(place > three.count ? 61 : alphabet[bits >> (18 - 6 * place) & 63])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func hex(_ name: String, isUpper: Bool) -> ValueKind {
        ValueKind("hex in \(name)", "TEXT") { choices in
            let length = choices.chance(70) ? choices.pick([8, 20, 32]) : nil
            let doubles = choices.chance(30) ? choices.number(in: 1...30) : nil
            return { choices, _ in
                let reals = (0..<(doubles ?? 0)).map { _ in (Double(choices.below(360_000)) / 1000).bitPattern }
                let bytes =
                    doubles == nil
                    ? choices.bytes(length ?? choices.length(upTo: 100))
                    : reals.flatMap { real in (0..<8).map { UInt8(truncatingIfNeeded: real >> (8 * $0)) } }
                return .text(
                    bytes.map {
                        String($0 >> 4, radix: 16, uppercase: isUpper) + String($0 & 15, radix: 16, uppercase: isUpper)
                    }
                    .joined())
            }
        }
    }

    /// Protocol Buffers [protobuf.dev/programming-guides/encoding].
    static let messages = [
        ValueKind("protobuf", "BLOB") { choices in
            let fields = (0...choices.below(9)).map { _ in
                (number: choices.number(in: 1...40), type: choices.pick([0, 1, 2, 2, 5]))
            }
            return { choices, place in
                .blob(message(choices, fields, depth: 0, place.isEdited))
            }
        }
    ]

    private static func message(
        _ choices: Choices, _ fields: [(number: Int, type: Int)], depth: Int, _ isEdited: Bool
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in fields where choices.chance(80) {
            bytes += varint(UInt64(field.number << 3 | field.type))
            switch field.type {
            case 0: bytes += varint(choices.bits())
            case 1: bytes += choices.bytes(8)
            case 5: bytes += choices.bytes(4)
            default:
                let content =
                    choices.chance(30) && depth < 3
                    ? message(choices, fields, depth: depth + 1, isEdited)
                    : Array(choices.sentence(choices.below(8), isEdited: isEdited).utf8)
                bytes += varint(UInt64(content.count)) + content
            }
        }
        return bytes
    }

    private static func varint(_ value: UInt64) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), value)
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}
