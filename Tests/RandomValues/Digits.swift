extension ValueKind {
    /// Bytes that are spelled in other bytes, and messages of tagged fields.
    static let digits = [
        ValueKind("base64", "TEXT") { choices in
            let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
            let most = choices.pick([24, 300])
            return { choices, _ in
                let bytes = choices.bytes(choices.length(upTo: most))
                var text: [UInt8] = []
                for start in stride(from: 0, to: bytes.count, by: 3) {
                    let three = bytes[start..<min(start + 3, bytes.count)]
                    let bits = three.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - three.count))
                    for place in 0..<4 {
                        text.append(place > three.count ? 61 : alphabet[bits >> (18 - 6 * place) & 63])
                    }
                }
                return .text(String(decoding: text, as: UTF8.self))
            }
        },
        hex("lower case", isUpper: false), hex("upper case", isUpper: true),
    ]

    private static func hex(_ name: String, isUpper: Bool) -> ValueKind {
        ValueKind("hex in \(name)", "TEXT") { choices in
            let length = choices.chance(70) ? choices.pick([8, 20, 32]) : nil
            return { choices, _ in
                let bytes = choices.bytes(length ?? choices.length(upTo: 100))
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
