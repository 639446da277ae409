/// The type of a block (BTYPE).
enum DeflateBlockKind: UInt64 {
    case stored = 0
    case fixed = 1
    case dynamic = 2
}
