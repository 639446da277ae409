/// Sizes, rates and times as people read them.
enum Figures {
    /// `812 B`, `13.4 kB`, `2.1 MB`: decimal units, three figures.
    static func bytes(_ count: Int64) -> String {
        guard count >= 1000 else { return "\(count) B" }
        var value = Double(count)
        var unit = ""
        for next in ["kB", "MB", "GB", "TB"] where value >= 999.5 || unit.isEmpty {
            value /= 1000
            unit = next
        }
        return "\(threeFigures(value)) \(unit)"
    }

    /// `0.42 s`, `3 min 12 s`.
    static func duration(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        guard seconds >= 100 else { return "\(threeFigures(seconds)) s" }
        return "\(Int(seconds) / 60) min \(Int(seconds) % 60) s"
    }

    /// `41 %`.
    static func percent(_ part: Int64, of whole: Int64) -> String {
        whole == 0 ? "100 %" : "\(Int((Double(part) / Double(whole) * 100).rounded())) %"
    }

    static func threeFigures(_ value: Double) -> String {
        let decimals = value < 0.0995 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0
        let scale = [1.0, 10, 100, 1000][decimals]
        let rounded = Int((value * scale).rounded())
        guard decimals > 0 else { return "\(rounded)" }
        let fraction = String(rounded % Int(scale))
        return "\(rounded / Int(scale))." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }
}
