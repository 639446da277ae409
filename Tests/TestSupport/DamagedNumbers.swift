/// A record in JSON whose numbers and times are others, as a damaged file may have them.
package enum DamagedNumbers {
    private static let numbers =
        [0, 1, -1, Int.max, Int.max - 1, Int.min].map(\.description) + [
            "\(UInt64.max)", "0.5", "1e300", "-1e300", "null",
        ]
    private static let times = ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-99-99T99:99:99Z"]

    /// - Parameter json: Without spaces.
    /// - Returns: It with each value in each place, and then with values in all places that are drawn from the seed.
    package static func variants(of json: String, seed: UInt64) -> [String] {
        let found = json.matches(of: #/[,:\[](-?[0-9][0-9.eE+\-]*)(?=[,\]}])/#).map { $0.output.1 }
        let dates = json.matches(of: #/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/#).map(\.output)
        let places = (found + dates).sorted { $0.startIndex < $1.startIndex }
        func values(_ place: Substring) -> [String] { place.hasSuffix("Z") ? times : numbers }
        func replacing(_ places: [Substring], with value: (Substring) -> String) -> String {
            var (text, end) = ("", json.startIndex)
            for place in places {
                text.append(contentsOf: json[end..<place.startIndex])
                text.append(value(place))
                end = place.endIndex
            }
            return text + json[end...]
        }
        let each = places.flatMap { place in values(place).map { value in replacing([place]) { _ in value } } }
        var random = RepeatableRandom(seed: seed)
        return each
            + (0..<200).map { _ in replacing(places) { values($0).randomElement(using: &random) ?? "0" } }
    }
}
