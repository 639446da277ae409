/// A QR code of a text of digits, capital letters, spaces and `$%*+-./:`.
///
/// Source: ISO/IEC 18004:2015; sections are cited below.
public struct QRCode: Hashable, Sendable {
    /// Modules on each side, without the quiet zone.
    public let side: Int
    /// Row after row, from the top left; `true` is dark.
    let modules: [Bool]

    /// How many light modules must be on every side [section 5.3.8].
    public static let quietZone = 4

    /// - Returns: `nil` for a text with other characters, or of more than 154.
    public init?(_ text: String) {
        guard let bytes = Self.data(of: text) else { return nil }
        let drawing = QRDrawing(bytes.version, Self.interleaved(bytes.data, bytes.version))
        side = bytes.version.side
        modules = drawing.modules
    }

    /// Whether a module is dark; those outside are light.
    public subscript(row row: Int, column column: Int) -> Bool {
        (0..<side).contains(row) && (0..<side).contains(column) && modules[row * side + column]
    }

    private static let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8)
    private static let alphanumericMode = 0b0010
    /// Of the length, in the versions that are used here [table 3].
    private static let lengthBits = 9

    /// The data bytes, filled up, and the smallest version that holds them [sections 7.4.4, 7.4.9 and 7.4.10].
    static func data(of text: String) -> (version: QRVersion, data: [UInt8])? {
        var values: [Int] = []
        for byte in text.utf8 {
            guard let value = characters.firstIndex(of: byte) else { return nil }
            values.append(value)
        }
        var bits = BitString()
        bits.append(alphanumericMode, count: 4)
        let needed = 4 + lengthBits + values.count / 2 * 11 + values.count % 2 * 6
        guard let version = QRVersion.all.first(where: { $0.dataBytes * 8 >= needed }) else { return nil }
        bits.append(values.count, count: lengthBits)
        for index in stride(from: 0, to: values.count, by: 2) {
            if index + 1 < values.count {
                bits.append(values[index] * characters.count + values[index + 1], count: 11)
            } else {
                bits.append(values[index], count: 6)
            }
        }
        bits.append(0, count: min(4, version.dataBytes * 8 - bits.bits.count))
        bits.append(0, count: (8 - bits.bits.count % 8) % 8)
        var data = bits.bytes
        var filler: UInt8 = 0xEC
        while data.count < version.dataBytes {
            data.append(filler)
            filler ^= 0xEC ^ 0x11
        }
        return (version, data)
    }

    /// Data and check bytes in the order in which they are drawn: the first of each block, the second of each, and so on
    /// [section 7.6].
    static func interleaved(_ data: [UInt8], _ version: QRVersion) -> [UInt8] {
        let blocks = (0..<version.blocks).map { index in
            Array(data[index * version.dataInBlock..<(index + 1) * version.dataInBlock])
        }
        let checks = blocks.map { ReedSolomon.checkBytes(of: $0, count: version.checkInBlock) }
        return (0..<version.dataInBlock).flatMap { index in blocks.map { $0[index] } }
            + (0..<version.checkInBlock).flatMap { index in checks.map { $0[index] } }
    }
}

/// Bits in a row, the highest of each number first.
private struct BitString {
    var bits: [Bool] = []

    mutating func append(_ value: Int, count: Int) {
        for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
    }

    /// - Precondition: Whole bytes.
    var bytes: [UInt8] {
        stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
        }
    }
}
