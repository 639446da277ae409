extension ValueKind {
    /// Dates in six forms.
    static let dates = [
        ValueKind("date in a text", "DATETIME") { choices in
            let separator = choices.pick([" ", "T"])
            let end = choices.pick(["", "Z", ".123", "+02:00"])
            return { choices, place in
                let seconds = place.row * 61 + choices.below(50)
                let (day, time) = (seconds / 86_400, seconds % 86_400)
                let date = [2_020 + day / 336, 1 + day / 28 % 12, 1 + day % 28].map { pad($0) }.joined(separator: "-")
                let clock = [time / 3600, time / 60 % 60, time % 60].map { pad($0) }.joined(separator: ":")
                return .text(date + separator + clock + end)
            }
        },
        ValueKind("day in a text", "DATE") { _ in
            { choices, _ in
                .text("\(2000 + choices.below(30))-\(pad(1 + choices.below(12)))-\(pad(1 + choices.below(28)))")
            }
        },
        instant("seconds", "INTEGER") { .integer(1_600_000_000 + $0 / 1000) },
        instant("milliseconds", "INTEGER") { .integer(1_600_000_000_000 + $0) },
        instant("reference date", "TIMESTAMP") { .real(700_000_000 + Double($0) / 1000) },
        instant("Julian day", "REAL") { .real(2_459_000 + Double($0) / 86_400_000) },
    ]

    private static func instant(_ name: String, _ type: String, _ spell: @escaping @Sendable (Int64) -> Cell)
        -> ValueKind
    {
        ValueKind("date as \(name)", type) { choices in
            let step = choices.pick([1, 1000, 90_000])
            return { choices, place in spell(Int64(place.row * step + choices.below(step + 1))) }
        }
    }

    private static func pad(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
