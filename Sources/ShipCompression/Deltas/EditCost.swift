/// What values take, about, in bytes: enough to choose the row that another is made of.
enum EditCost {
    static func of(_ value: DeltaValue) -> Int {
        switch value {
        case .null: 1
        case .integer(let integer): 1 + (64 - abs(Double(integer)).bitPatternBits) / 8
        case .real: 8
        case .text(let bytes): 1 + bytes.count * 2 / 3
        case .blob(let bytes): 1 + bytes.count
        }
    }

    static func of(_ values: [DeltaValue]) -> Int { values.reduce(0) { $0 + of($1) } }

    /// What is said of a row that is made of another.
    static func of(_ new: [DeltaValue], from old: [DeltaValue]) -> Int {
        var cost = 2 + abs(new.count - old.count)
        for (column, value) in new.enumerated() {
            let before = column < old.count ? old[column] : .null
            guard value != before else { continue }
            switch (before, value) {
            case (.integer(let first), .integer(let second)): cost += 1 + min(of(value), of(.integer(second &- first)))
            case (.text(let first), .text(let second)), (.blob(let first), .blob(let second)):
                let splice = Splice(from: first, to: second)
                var least = min(1 + of(value), 4 + splice.inserted.count)
                if value.isBlob, least >= DeflatedBlob.shortest, DeflatedBlob.inflated(first) != nil,
                    DeflatedBlob.inflated(second) != nil
                {
                    least /= 4
                }
                cost += least
            default: cost += 1 + of(value)
            }
        }
        return cost
    }
}

extension Double {
    /// Bits of a whole number that are 0 before its first.
    fileprivate var bitPatternBits: Int { self < 1 ? 64 : max(0, 63 - Int(exponent)) }
}
