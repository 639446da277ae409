/// The one order in which the blocks of a shipment come: parts by rising index, each from its first byte to its last.
///
/// Source: `Protocol/README.md` section 3.3. Vectors: `stream_*`.
package struct BlockSequence: Hashable, Sendable {
    private let sizes: [Int64]
    private let skipped: Set<Int>
    private var part = 0
    private var offset: Int64 = 0

    /// - Parameters:
    ///   - sizes: Of the parts, in bytes.
    ///   - skipped: Indexes of parts that have no blocks.
    package init(sizes: [Int64], skipping skipped: Set<Int>) {
        self.sizes = sizes
        self.skipped = skipped
        passOverPartsWithoutBlocks()
    }

    /// Whether no block is missing.
    package var isComplete: Bool { part == sizes.count }

    /// Takes the next block.
    ///
    /// - Throws: `.badBlock` unless it is the next one.
    package mutating func admit(_ block: Block) throws(ProtocolError) {
        guard part < sizes.count, block.part == UInt32(part) else { throw .badBlock(.part) }
        guard block.offset == offset else { throw .badBlock(.offset) }
        guard Int64(block.decodedSize) <= sizes[part] - offset else { throw .badBlock(.beyondEnd) }
        offset += Int64(block.decodedSize)
        if offset == sizes[part] {
            part += 1
            offset = 0
            passOverPartsWithoutBlocks()
        }
    }

    private mutating func passOverPartsWithoutBlocks() {
        while part < sizes.count, skipped.contains(part) || sizes[part] == 0 { part += 1 }
    }
}
