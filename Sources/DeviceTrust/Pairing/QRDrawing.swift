/// Draws the bytes of a QR code into its square.
///
/// The standard has eight masks, of which the writer is to choose the one that is easiest to read. The characters of an id are as good as
/// random under each of them, so every code has the mask that inverts every second module.
///
/// Source: ISO/IEC 18004:2015; sections are cited below.
struct QRDrawing {
    /// Row and column of the middle of the alignment pattern [annex E].
    private static let alignment = 26
    private let side = QRCode.side
    private(set) var modules: [Bool]
    /// The modules of the patterns, which hold no data.
    private var isReserved: [Bool]

    init(_ bytes: [UInt8]) {
        modules = [Bool](repeating: false, count: side * side)
        isReserved = modules
        drawPatterns()
        drawData(bytes)
    }

    private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
        modules[row * side + column] = isDark
        isReserved[row * side + column] = true
    }

    // MARK: Patterns

    private mutating func drawPatterns() {
        for index in 0..<side {
            set(6, index, index % 2 == 0)
            set(index, 6, index % 2 == 0)
        }
        for (row, column) in [(3, 3), (3, side - 4), (side - 4, 3)] { drawFinder(row, column) }
        for row in -2...2 {
            for column in -2...2 {
                set(Self.alignment + row, Self.alignment + column, max(abs(row), abs(column)) != 1)
            }
        }
        drawFormat()
    }

    /// With the light separator around it [section 6.3.3].
    private mutating func drawFinder(_ middleRow: Int, _ middleColumn: Int) {
        for row in -4...4 {
            for column in -4...4 {
                let (row, column, distance) = (middleRow + row, middleColumn + column, max(abs(row), abs(column)))
                guard (0..<side).contains(row), (0..<side).contains(column) else { continue }
                set(row, column, distance != 2 && distance != 4)
            }
        }
    }

    /// The level, M, and the number of the mask, 0, twice, each protected by a BCH code [section 7.9].
    private mutating func drawFormat() {
        let bits = 0b101010000010010
        let isDark = { (bit: Int) in bits >> bit & 1 == 1 }
        for bit in 0...5 { set(bit, 8, isDark(bit)) }
        set(7, 8, isDark(6))
        set(8, 8, isDark(7))
        set(8, 7, isDark(8))
        for bit in 9...14 { set(8, 14 - bit, isDark(bit)) }
        for bit in 0...7 { set(8, side - 1 - bit, isDark(bit)) }
        for bit in 8...14 { set(side - 15 + bit, 8, isDark(bit)) }
        set(side - 8, 8, true)
    }

    // MARK: Data

    /// In columns of two, from the right, alternately up and down, without the vertical timing pattern [section 7.7.3].
    ///
    /// The mask inverts every second module [section 7.8.2, table 10].
    private mutating func drawData(_ bytes: [UInt8]) {
        var bit = 0
        for pair in 0..<(side - 1) / 2 {
            let right = side - 1 - 2 * pair - (side - 1 - 2 * pair <= 6 ? 1 : 0)
            for step in 0..<side {
                let row = pair % 2 == 0 ? side - 1 - step : step
                for column in [right, right - 1] where !isReserved[row * side + column] {
                    let isSet = bit < bytes.count * 8 && bytes[bit / 8] >> (7 - bit % 8) & 1 == 1
                    modules[row * side + column] = isSet != ((row + column) % 2 == 0)
                    bit += 1
                }
            }
        }
    }
}
