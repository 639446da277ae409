/// A kind of values that a column may have. A new kind is one small file, and its name here.
package struct ValueKind: Sendable {
    /// What a value may depend on.
    package struct Place {
        /// From 0.
        package let row: Int
        /// The values of the same row, in the columns before.
        package let earlier: [Cell]
        /// Whether it is to be a little different from what it would be.
        package let isEdited: Bool

        package init(row: Int, earlier: [Cell] = [], isEdited: Bool = false) {
            self.row = row
            self.earlier = earlier
            self.isEdited = isEdited
        }
    }

    package typealias Making = (Choices, Place) -> Cell

    package let name: String
    /// The type that a column of it is declared with.
    package let declaration: String
    /// Decides what the values of one column have in common.
    package let begin: @Sendable (Choices) -> Making

    init(_ name: String, _ declaration: String = "", _ begin: @escaping @Sendable (Choices) -> Making) {
        self.name = name
        self.declaration = declaration
        self.begin = begin
    }

    package static let all =
        numbers + reals + texts + identifiers + dates + markup + digits + messages + lists + streams + arrays + decimals
        + blocks
        + odd + derived

    /// Most values are of a kind, and some are not.
    package func mixed(with other: ValueKind, every: Int) -> ValueKind {
        ValueKind("\(name) or \(other.name)") { [begin, other] choices in
            let (usual, unusual) = (begin(choices), other.begin(choices))
            return { choices, place in (choices.below(every) == 0 ? unusual : usual)(choices, place) }
        }
    }
}
