extension ValueKind {
    /// UUIDs in all their spellings.
    static let identifiers = [
        spelling("upper case") { .text($0.uppercased()) },
        spelling("lower case") { .text($0) },
        spelling("either case") { .text($0.utf8.first.map { $0 % 2 == 0 } == true ? $0 : $0.uppercased()) },
        spelling("in braces") { .text("{\($0)}") },
        spelling("as a URN") { .text("urn:uuid:\($0)") },
        spelling("without hyphens") { .text($0.filter { $0 != "-" }) },
        spelling("within a text") { .text("x-coredata://\($0.uppercased())/Recipe/p\($0.utf8.count)") },
        ValueKind("UUID in bytes", "BLOB") { _ in { choices, _ in .blob(choices.bytes(16)) } },
        ValueKind("key of another row", "BLOB") { choices in
            let (size, reach) = (choices.pick([12, 16, 20]), choices.pick([3, 50, 5000]))
            var keys: [[UInt8]] = []
            return { choices, _ in
                if keys.isEmpty || choices.chance(40) { keys.append(choices.bytes(size)) }
                return .blob(keys[max(0, keys.count - 1 - choices.below(reach))])
            }
        },
        ValueKind("reference to an external file", "BLOB") { _ in
            { choices, place in
                // Another file is another reference.
                if place.isEdited { _ = choices.below(2) }
                return .blob(
                    choices.chance(70)
                        ? [2] + uuid(choices).uppercased().utf8 + [0] : [1] + choices.bytes(choices.below(200)))
            }
        },
    ]

    private static func spelling(_ name: String, _ spell: @escaping @Sendable (String) -> Cell) -> ValueKind {
        ValueKind("UUID \(name)", "VARCHAR(36)") { choices in
            // Versions 4 and 1: the latter have much in common.
            let node = choices.chance(30) ? choices.bytes(10) : nil
            return { choices, _ in spell(uuid(choices, node: node)) }
        }
    }

    private static func uuid(_ choices: Choices, node: [UInt8]? = nil) -> String {
        let bytes = node.map { choices.bytes(6) + $0 } ?? choices.bytes(16)
        var text = ""
        for (place, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(place) { text += "-" }
            text += String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        return text
    }
}
