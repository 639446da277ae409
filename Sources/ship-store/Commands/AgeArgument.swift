import ArgumentParser

/// How long something stays: a whole number and `m`, `h`, `d` or `w`.
struct AgeArgument: Hashable {
    let duration: Duration

    private static let units: [Character: Int64] = ["m": 60, "h": 3600, "d": 86_400, "w": 604_800]  // seconds
    /// A thousand years, in weeks.
    private static let longest: Int64 = 52_000

    @Sendable static func read(_ text: String) throws -> AgeArgument {
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), count > 0,
            count <= longest * 604_800 / unit
        else { throw ValidationError("a time is written 30m, 12h, 7d or 4w") }
        return AgeArgument(duration: .seconds(count * unit))
    }
}
