/// A way in which the bytes of a part go over the link.
///
/// Source: the registry of `Protocol/README.md` section 3.4.
public enum PartEncoding: UInt8, Hashable, Sendable, CaseIterable {
    /// The bytes as they are, in blocks.
    case blocks = 1
    /// The store by its rows, column by column; the consumer makes the pages, and the indexes that follow from the rows.
    case columns = 2
    /// The store by what changed of it since another one, which the consumer holds; an external file by what changed since one that
    /// the consumer holds with that store.
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

    /// Whether every consumer takes it.
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

    /// Whether a part may come in it.
    ///
    /// - Parameter index: 0 is the store.
    package func suits(part index: Int) -> Bool {
        switch self {
        case .blocks, .delta: true
        case .columns: index == 0
        }
    }
}
