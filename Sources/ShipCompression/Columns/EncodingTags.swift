// The first byte of each encoding. Source: `Protocol/COLUMNS.md`, "Segments and row groups".

enum IntegerTag: UInt8 {
    case constant = 0
    case arithmetic = 1
    case varints = 2
    case deltaVarints = 3
    case planes = 4
    case deltaPlanes = 5
    case runs = 6
    case packed = 7
    case dictionary = 8
    case reference = 9
    case following = 10
}

enum RealTag: UInt8 {
    case bits = 0
    case xor = 1
    case decimal = 2
    case bytes = 3
}

enum StringTag: UInt8 {
    case lengths = 0
    case terminated = 1
    case transposed = 2
    case upperUUID = 3
    case lowerUUID = 4
    case upperHex = 5
    case lowerHex = 6
    case front = 7
    case pattern = 8
    case holding = 9
    case propertyLists = 10
    case deflated = 11
    case identified = 12
}

enum ColumnTag: UInt8 {
    /// Up to here: which kinds of values there are (`ColumnKinds`).
    case lastPlain = 0x7f
    case dictionary = 0x80
    case determined = 0x81
    case predicted = 0x82
    case copy = 0x83
}

enum GroupTag {
    static let hasRowids: UInt8 = 1
    static let isLegacy: UInt8 = 2
    static let isRowWise: UInt8 = 4
}

/// What a value is, and the bits that say in a column's tag which kinds it has.
enum ValueKind {
    static let null: UInt8 = 0
    static let integer: UInt8 = 1
    static let real: UInt8 = 2
    static let text: UInt8 = 3
    static let blob: UInt8 = 4

    /// The reals that are whole numbers stand as integers in the records (REAL affinity).
    static let wholeReals: UInt8 = 0x20
    /// The kinds are those of an earlier column.
    static let kindsOfEarlier: UInt8 = 0x40
    static let mask: UInt8 = 0x1f
}
