/// How a compressor of blocks looks for matches.
///
/// Source: `Protocol/BLOCKS.md` 2.
struct BlockParser {
    /// The table that leads from a position to an earlier one.
    enum Table {
        /// The highest bits of a product; with `fits` fewer in small blocks.
        case product(UInt32, bits: Int, fits: Bool)
        /// As many of the lower bits of the highest `bits` of the product as fit the block.
        case maskedProduct(UInt32, bits: Int)
        /// The highest bits of the product of five bytes.
        case longProduct(UInt64, bits: Int)
        /// The position's four bytes themselves.
        case exact
    }

    /// How far it is from one position that is looked at to the next.
    enum Steps {
        case ones
        /// Longer the longer nothing was found, in proportion.
        case growing
        /// Longer by 1 after each 64 positions.
        case rising
    }

    /// Which positions of a match are entered beside its first.
    enum Entered {
        case none
        case all
        /// So many bytes before its end.
        case nearEnd(Int)
    }

    let table: Table
    var steps = Steps.ones
    /// Content is cut into blocks of so many bytes, if it is cut.
    var blockSize: Int?
    /// No position is looked at, if the next one is nearer to the end of the block.
    let margin: Int
    /// Bytes at the end of a block that are not matched.
    let unmatched: Int
    /// Whether a match begins before the position at which it was found, if it can.
    var goesBack = false
    let entered: Entered

    static let farthest = 65_535

    /// Those of Snappy up to 1.1.8, up to 1.1.9, and since; of LZ4 for content below 64 KiB, and above or in a stream; and simple ones.
    static let all = [
        BlockParser(
            table: .product(0x1e35_a7bd, bits: 14, fits: true), steps: .growing, blockSize: 1 << 16, margin: 15,
            unmatched: 0, entered: .nearEnd(1)),
        BlockParser(
            table: .maskedProduct(0x1e35_a7bd, bits: 14), steps: .growing, blockSize: 1 << 16, margin: 15,
            unmatched: 0, entered: .nearEnd(1)),
        BlockParser(
            table: .maskedProduct(0x1e35_a7bd, bits: 15), steps: .growing, blockSize: 1 << 16, margin: 15,
            unmatched: 0, entered: .nearEnd(1)),
        BlockParser(
            table: .product(2_654_435_761, bits: 13, fits: false), steps: .rising, margin: 11, unmatched: 5,
            goesBack: true, entered: .nearEnd(2)),
        BlockParser(
            table: .longProduct(889_523_592_379, bits: 12), steps: .rising, margin: 11, unmatched: 5, goesBack: true,
            entered: .nearEnd(2)),
        BlockParser(table: .exact, margin: 3, unmatched: 0, entered: .none),
        BlockParser(table: .exact, margin: 3, unmatched: 0, entered: .all),
        BlockParser(table: .exact, margin: 11, unmatched: 5, entered: .none),
        BlockParser(table: .exact, margin: 11, unmatched: 5, entered: .all),
    ]
}
