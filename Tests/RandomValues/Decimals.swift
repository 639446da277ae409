extension ValueKind {
    /// Texts with many decimal numbers: places, series, tables.
    static let decimals = [
        ValueKind("points in JSON", "TEXT") { choices in
            let (digits, isFixed) = (choices.number(in: 0...9), choices.chance(30))
            let (between, isWKT) = (choices.pick([",", ", "]), choices.chance(40))
            return { choices, place in
                var point = [choices.below(360) - 180, choices.below(180) - 90].map { $0 * power(digits) }
                let points = (0..<choices.number(in: 1...60)).map { _ in
                    for axis in 0..<2 { point[axis] += choices.below(40_001) - 20_000 }
                    let axes = point.map { spelled($0, digits, isFixed: isFixed) }
                    return isWKT ? axes.joined(separator: " ") : "[" + axes.joined(separator: between) + "]"
                }
                let line = points.joined(separator: between)
                let end = place.isEdited ? " edited" : ""
                return .text((isWKT ? "LINESTRING(\(line))" : "{\"coordinates\":[\(line)]}") + end)
            }
        },
        ValueKind("lines of numbers", "TEXT") { choices in
            let digits = (0..<choices.number(in: 1...9)).map { _ in choices.number(in: 0...6) }
            let (isFixed, separator) = (choices.chance(50), choices.pick([",", "\t", ";", " "]))
            return { choices, place in
                let lines = (0..<choices.number(in: 1...20)).map { line in
                    let numbers = digits.map { digits -> String in
                        if choices.chance(3) {
                            return choices.pick(["", "NaN", "-", "007", "1e-9", "-0.0", "1.2.3", "\u{1}"])
                        }
                        let number = (choices.below(2_000_001) - 1_000_000) * power(digits / 2)
                        return spelled(number, digits, isFixed: isFixed)
                    }
                    return "\(place.row + line)" + separator + numbers.joined(separator: separator)
                }
                return .text(lines.joined(separator: "\n"))
            }
        },
        ValueKind("reals as they are printed", "TEXT") { choices in
            let noise = choices.pick([0.1, 1.0 / 3, 1e-9, 1e17])
            return { choices, _ in
                let reals = (0..<choices.number(in: 1...40)).map { _ in Double(choices.below(2000) - 1000) * noise }
                return .text("\(reals)")
            }
        },
    ]

    private static func power(_ digits: Int) -> Int { (0..<digits).reduce(1) { power, _ in power * 10 } }

    /// - Parameter isFixed: Whether zeros stay at the end.
    private static func spelled(_ number: Int, _ digits: Int, isFixed: Bool) -> String {
        let magnitude = "\(number.magnitude)"
        let all = String(repeating: "0", count: max(0, digits + 1 - magnitude.count)) + magnitude
        var fraction = all.suffix(digits)
        while !isFixed, fraction.count > 1, fraction.last == "0" { fraction.removeLast() }
        return (number < 0 ? "-" : "") + all.dropLast(digits) + (fraction.isEmpty ? "" : "." + fraction)
    }
}
