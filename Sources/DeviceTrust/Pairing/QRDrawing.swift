/// Draws the bytes of a QR code into its square, with the mask that is easiest to read.
///
/// Source: ISO/IEC 18004:2015; sections are cited below.
struct QRDrawing {
    private let side: Int
    private let alignment: Int?
    private(set) var modules: [Bool]
    /// The modules of the patterns, which hold no data.
    private var isReserved: [Bool]

    init(_ version: QRVersion, _ bytes: [UInt8]) {
        side = version.side
        alignment = version.alignment
        modules = [Bool](repeating: false, count: side * side)
        isReserved = modules
        drawPatterns()
        drawData(bytes)
        modules = (0..<8).map(masked).min { $0.penalty < $1.penalty }?.modules ?? modules
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
        if let middle = alignment {
            for row in -2...2 {
                for column in -2...2 { set(middle + row, middle + column, max(abs(row), abs(column)) != 1) }
            }
        }
        drawFormat(mask: 0)
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

    /// The level, M, and the mask, twice, each protected by a BCH code [section 7.9].
    private mutating func drawFormat(mask: Int) {
        var remainder = mask
        for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9 & 1) * 0b10100110111 }
        let bits = (mask << 10 | remainder) ^ 0b101010000010010
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
    private mutating func drawData(_ bytes: [UInt8]) {
        var bit = 0
        for pair in 0..<(side - 1) / 2 {
            let right = side - 1 - 2 * pair - (side - 1 - 2 * pair <= 6 ? 1 : 0)
            for step in 0..<side {
                let row = pair % 2 == 0 ? side - 1 - step : step
                for column in [right, right - 1] where !isReserved[row * side + column] && bit < bytes.count * 8 {
                    modules[row * side + column] = bytes[bit / 8] >> (7 - bit % 8) & 1 == 1
                    bit += 1
                }
            }
        }
    }

    private func masked(_ mask: Int) -> QRDrawing {
        var copy = self
        for row in 0..<side {
            for column in 0..<side where !isReserved[row * side + column] && Self.inverts(mask, row, column) {
                copy.modules[row * side + column].toggle()
            }
        }
        copy.drawFormat(mask: mask)
        return copy
    }

    /// Whether a mask pattern inverts a module, so that no large area has one colour [section 7.8.2, table 10].
    private static func inverts(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
        switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3) % 2 == 0
        default: ((row + column) % 2 + row * column % 3) % 2 == 0
        }
    }

    // MARK: Penalty

    /// How hard it is to read [section 7.8.3].
    private var penalty: Int {
        var penalty = squares * 3
        for index in 0..<side {
            penalty += Self.penalty(of: Array(modules[index * side..<(index + 1) * side]))
            penalty += Self.penalty(of: stride(from: index, to: modules.count, by: side).map { modules[$0] })
        }
        // Ten for each step of 5 % between the share of dark modules and one half.
        let dark = modules.count(where: \.self)
        return penalty + abs(dark * 20 - modules.count * 10) / modules.count * 10
    }

    private var squares: Int {
        var count = 0
        for row in 1..<side {
            for column in 1..<side {
                let corner = modules[row * side + column]
                let others = [
                    modules[row * side + column - 1], modules[(row - 1) * side + column],
                    modules[(row - 1) * side + column - 1],
                ]
                if others.allSatisfy({ $0 == corner }) { count += 1 }
            }
        }
        return count
    }

    /// Of runs of one colour, and of patterns that look like a finder pattern, in one row or column.
    private static func penalty(of line: [Bool]) -> Int {
        var (penalty, run) = (0, 0)
        for index in line.indices {
            run = index > 0 && line[index] == line[index - 1] ? run + 1 : 1
            if run == 5 { penalty += 3 } else if run > 5 { penalty += 1 }
        }
        for start in 0...line.count - 11 {
            let part = Array(line[start..<start + 11])
            if part == finderLike || part == finderLike.reversed() { penalty += 40 }
        }
        return penalty
    }

    private static let finderLike = [true, false, true, true, true, false, true, false, false, false, false]
}
