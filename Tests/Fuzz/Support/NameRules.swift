import ShipProtocol

/// What the protocol says of names (`Protocol/README.md` sections 4.2 and 4.6), stated once more: what has been taken for one
/// must be one.
enum NameRules {
    static func check(_ name: StoreName) {
        let bytes = Array(name.text.utf8)
        precondition((1...128).contains(bytes.count), "a name of \(bytes.count) bytes")
        precondition(bytes.allSatisfy { isLetterOrDigit($0) || [0x5F, 0x2E, 0x2D].contains($0) }, "a character")
        precondition(isLetterOrDigit(bytes[0]) || bytes[0] == 0x5F, "the first character")
        let lowered = bytes.map { $0 | 0x20 }
        for ending in ["-wal", "-shm", "-journal"] {
            precondition(!lowered.reversed().starts(with: ending.utf8.reversed()), "a reserved ending")
        }
    }

    static func check(_ name: ExternalFileName) {
        let bytes = Array(name.uuid.utf8)
        precondition(bytes.count == 36, "a UUID of \(bytes.count) bytes")
        for (index, byte) in bytes.enumerated() {
            let isHyphen = [8, 13, 18, 23].contains(index)
            precondition(isHyphen ? byte == 0x2D : isHexadecimal(byte), "a character of a UUID")
        }
        precondition(["_EXTERNAL_DATA/", "_FBF/"].contains { name.relativePath == $0 + name.uuid }, "a folder")
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) && byte < 0x80
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20) && byte < 0x80
    }
}
