/// A QR code of a device's id: of 88 digits, capital letters, spaces and `$%*+-./:`.
///
/// It is written by hand: two files, instead of a dependency for one picture. It always is of version 4, at error correction level M (15 %),
/// which holds two characters more.
///
/// Source: ISO/IEC 18004:2015; sections are cited below.
public struct QRCode: Hashable, Sendable {
    /// Modules on each side, without the quiet zone.
    public static let side = 33
    /// How many light modules must be on every side [section 5.3.8].
    public static let quietZone = 4

    /// Row after row, from the top left; `true` is dark.
    let modules: [Bool]

    /// - Returns: `nil` for a text with other characters, or of another length.
    public init?(_ text: String) {
        guard let data = Self.data(of: text) else { return nil }
        modules = QRDrawing(Self.interleaved(data)).modules
    }

    /// Whether a module is dark; those outside are light.
    public subscript(row row: Int, column column: Int) -> Bool {
        let inside = 0..<Self.side
        return inside.contains(row) && inside.contains(column) && modules[row * Self.side + column]
    }

    private static let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8)
    private static let length = 88
    private static let alphanumericMode = 0b0010
    /// Of the length [table 3].
    private static let lengthBits = 9

    /// The data is split into two blocks, each with its own check bytes [table 9].
    private static let dataInBlock = 32
    private static let checkInBlock = 18

    /// The data bytes, filled up [sections 7.4.4, 7.4.9 and 7.4.10].
    private static func data(of text: String) -> [UInt8]? {
        let values = text.utf8.compactMap(characters.firstIndex)
        guard values.count == length, text.utf8.count == length else { return nil }
        var bits: [Bool] = []
        bits.append(alphanumericMode, count: 4)
        bits.append(length, count: lengthBits)
        for index in stride(from: 0, to: length, by: 2) {
            bits.append(values[index] * characters.count + values[index + 1], count: 11)
        }
        // The end of the text, and up to the end of the byte.
        bits.append(0, count: 4 + 3)
        return bits.bytes + [0xEC]
    }

    /// Data and check bytes in the order of drawing: the first byte of each block, the second byte of each, and so on [section 7.6].
    private static func interleaved(_ data: [UInt8]) -> [UInt8] {
        let blocks = [Array(data.prefix(dataInBlock)), Array(data.dropFirst(dataInBlock))]
        let checks = blocks.map { checkBytes(of: $0, count: checkInBlock) }
        return zip(blocks[0], blocks[1]).flatMap { [$0, $1] } + zip(checks[0], checks[1]).flatMap { [$0, $1] }
    }
}

/// Bits, the highest of each number first.
extension [Bool] {
    fileprivate mutating func append(_ value: Int, count: Int) {
        for bit in (0..<count).reversed() { append(value >> bit & 1 == 1) }
    }

    /// - Precondition: Their number is a multiple of 8.
    fileprivate var bytes: [UInt8] {
        stride(from: 0, to: count, by: 8).map { start in
            self[start..<start + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
        }
    }
}

extension QRCode {
    /// Lines of half blocks: a character shows two modules, one above the other.
    ///
    /// - Parameter isBlackOnWhite: Whether they are so whatever the terminal's own colours are, by ECMA-48's sequences. If not, light
    ///   modules are drawn, for light text on a dark background.
    public func lines(blackOnWhite isBlackOnWhite: Bool) -> [String] {
        let edge = Self.quietZone
        return stride(from: -edge, to: Self.side + edge, by: 2).map { row in
            let line = (-edge..<Self.side + edge).map { column in
                // Under the last row there is nothing to draw.
                let bottomIsLight = row + 1 < Self.side + edge && !self[row: row + 1, column: column]
                switch (!self[row: row, column: column], bottomIsLight) {
                case (true, true): return "█"
                case (true, false): return "▀"
                case (false, true): return "▄"
                case (false, false): return " "
                }
            }.joined()
            return isBlackOnWhite ? "\u{1B}[38;5;231;48;5;16m\(line)\u{1B}[0m" : line
        }
    }
}

/// The check bytes of a QR code: Reed-Solomon over GF(2^8) with the polynomial 0x11D.
///
/// Source: ISO/IEC 18004:2015 section 7.5 and annex A.
extension QRCode {
    /// - Returns: The remainder of `data` times x^count by the generator polynomial of degree `count`.
    static func checkBytes(of data: [UInt8], count: Int) -> [UInt8] {
        let generator = generator(ofDegree: count)
        var remainder = [UInt8](repeating: 0, count: count)
        for byte in data {
            let factor = byte ^ remainder.removeFirst()
            remainder.append(0)
            for (index, coefficient) in generator.enumerated() {
                remainder[index] ^= product(coefficient, factor)
            }
        }
        return remainder
    }

    /// (x - 1)(x - 2)(x - 4)...: its coefficients from the second highest down; the highest is 1.
    private static func generator(ofDegree degree: Int) -> [UInt8] {
        var coefficients = [UInt8](repeating: 0, count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in coefficients.indices {
                let next = index + 1 < degree ? coefficients[index + 1] : 0
                coefficients[index] = product(coefficients[index], root) ^ next
            }
            root = product(root, 2)
        }
        return coefficients
    }

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product: UInt16 = 0
        for bit in (0..<8).reversed() {
            product <<= 1
            if product & 0x100 != 0 { product ^= 0x11D }
            if right >> bit & 1 == 1 { product ^= UInt16(left) }
        }
        return UInt8(product)
    }
}
