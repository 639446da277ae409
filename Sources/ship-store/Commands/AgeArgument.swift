import ArgumentParser

/// `90s`, `15m`, `12h`, `7d` or `2w`.
struct AgeArgument: Hashable {
    let duration: Duration

    private static let seconds: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
    /// A hundred years, in seconds: nothing is kept longer on purpose.
    private static let longest: Int64 = 36_525 * 86_400

    @Sendable static func read(_ text: String) throws -> AgeArgument {
        guard let unit = text.last.flatMap({ seconds[$0] }),
            text.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let count = Int64(text.dropLast()), count <= longest / unit
        else { throw ValidationError("a time is a number and a unit, as in 90s, 15m, 12h, 7d or 2w") }
        return AgeArgument(duration: .seconds(count * unit))
    }
}
