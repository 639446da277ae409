/// The heading of a column of text, and on which side the column's fields stand.
enum TextColumn: Hashable {
    case left(String)
    case right(String)

    var heading: String {
        switch self {
        case .left(let text), .right(let text): text
        }
    }
}
