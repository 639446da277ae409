/// The facts about integers that one pass tells for their encodings.
struct IntegerFacts {
    private(set) var minimum: Int64
    private(set) var maximum: Int64
    private(set) var isArithmetic = true
    private let count: Int
    private var runs = 1
    private var bits = 0
    private var deltaBits = 0
    /// All zigzag values of the steps between values, combined by OR: no less than the largest. The first step is from 0.
    private var deltas: UInt64 = 0

    /// - Returns: `nil` for none.
    init?(_ values: [Int64]) {
        guard let first = values.first else { return nil }
        (minimum, maximum, count) = (first, first, values.count)
        let step = values.count > 1 ? values[1] &- first : 0
        var last = first
        deltas = first.zigzag
        values.withUnsafeBufferPointer { values in
            for value in values.dropFirst() {
                if value < minimum { minimum = value }
                if value > maximum { maximum = value }
                let delta = value &- last
                if delta != 0 { runs &+= 1 }
                if delta != step { isArithmetic = false }
                deltas |= delta.zigzag
                deltaBits &+= 64 &- delta.zigzag.leadingZeroBitCount
                last = value
            }
            for value in values {
                bits &+= 64 &- UInt64(bitPattern: value &- minimum).leadingZeroBitCount
            }
        }
    }

    var isConstant: Bool { minimum == maximum }
    var meanBits: Int { bits / count }
    var meanDeltaBits: Int { deltaBits / count }

    var packedBits: Int? {
        switch UInt64(bitPattern: maximum &- minimum) {
        case 0...1: 1
        case 2...3: 2
        case 4...15: 4
        default: nil
        }
    }

    /// Encodings worth a trial, the simplest first.
    func candidates(depth: Int) -> [IntegerTag] {
        if count < SegmentLimits.smallColumn { return [.varints, .deltaVarints] }
        let width = UInt64(bitPattern: maximum &- minimum).byteWidth
        let deltaWidth = deltas.byteWidth
        var tags: [IntegerTag] = []
        // Byte streams of a few large numbers among small ones deflate well, but a segment must be inflated too.
        if width <= meanBits / 4 + 2 { tags.append(.planes) }
        // Byte streams of one byte a value are what varints would be.
        if width > 1 || minimum < 0 { tags.append(.varints) }
        if deltaWidth > 1 { tags.append(.deltaVarints) }
        if deltaWidth <= meanDeltaBits / 4 + 2 { tags.append(.deltaPlanes) }
        if packedBits != nil { tags.append(.packed) }
        if depth < 2 {
            if runs * 3 < count { tags.append(.runs) }
            if width > 1, count >= 64 { tags.append(.dictionary) }
        }
        return tags
    }
}
