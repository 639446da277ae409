/// How the bytes of a part go over the link.
///
/// Source: the registry of `Protocol/README.md` section 3.4.
public enum PartEncoding: UInt8, Hashable, Sendable, CaseIterable {
    /// The bytes in order, in blocks.
    case blocks = 1
    /// The rows of the store, column by column. The consumer makes the pages, and the indexes that follow from the rows.
    case columns = 2
    /// The changes of the store since another one, which the consumer holds; or of an external file since one that the consumer holds with
    /// that store.
    case delta = 3

    /// How HELLO and ANSWER name it.
    package var name: ForeignText {
        switch self {
        case .blocks: "blocks"
        case .columns: "columns"
        case .delta: "delta"
        }
    }

    /// `nil` for a name that this version does not know.
    init?(named name: ForeignText) {
        guard let encoding = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = encoding
    }

    /// Whether every consumer supports it.
    package var isMandatory: Bool {
        switch self {
        case .blocks: true
        case .columns, .delta: false
        }
    }

    /// Whether it refers to another store.
    package var needsBase: Bool {
        switch self {
        case .blocks, .columns: false
        case .delta: true
        }
    }

    /// Whether a part may come in it; part 0 is the store.
    package func suits(part index: Int) -> Bool {
        switch self {
        case .blocks, .delta: true
        case .columns: index == 0
        }
    }
}
