package import ShipProtocol

/// Encodes the bytes of parts as blocks: it deflates on all cores, and delivers in order, with back-pressure.
///
/// Memory: at most `2 x cores` blocks are under way, each of at most 1 MiB and its encoding. Source: `Protocol/README.md` section 3.4.
package struct BlockEncoder: Sendable {
    private static let largestBlock = Int64(Limits.blockSize)
    /// A core deflates it in about 3 ms, and it loses 0.3 % against the largest.
    private static let smallestBlock: Int64 = 256 * 1024

    private let settings: CompressionSettings
    private let cores: Int

    /// - Parameters:
    ///   - settings: The encoder reads them before each block.
    ///   - cores: How many blocks are deflated at the same time.
    package init(_ settings: CompressionSettings, cores: Int) {
        self.settings = settings
        self.cores = max(1, cores)
    }

    /// Where the bytes of one part come from.
    package struct Source: Sendable {
        let part: Int
        let size: Int64
        let earlier: EarlierPieces?
        let read: @Sendable (_ offset: Int64, _ count: Int) throws -> [UInt8]

        /// - Parameters:
        ///   - size: In bytes.
        ///   - earlier: Blocks of the part that are there already: what follows them is encoded.
        ///   - read: Gives `count` bytes from `offset` on, fewer only at the end; it is called from several tasks at once.
        package init(
            part: Int, size: Int64, goingOnAfter earlier: EarlierPieces? = nil,
            read: @escaping @Sendable (_ offset: Int64, _ count: Int) throws -> [UInt8]
        ) {
            self.part = part
            self.size = size
            self.earlier = earlier
            self.read = read
        }
    }

    /// A block, the index of its part, and whether the part ends with it.
    package typealias Placed = (block: Block, part: Int, isLast: Bool)

    /// Encodes all parts, in order.
    ///
    /// - Parameter deliver: Called with one block after the other; while it waits, at most the blocks under way are
    ///   finished, and no more are begun.
    /// - Throws: `CompressionError`, `EarlierPieces.Mismatch`, what `read` and `deliver` throw, and `CancellationError`.
    package func encode(_ sources: [Source], deliver: (Placed) async throws -> Void) async throws {
        // The sources that are not read to their end, each with where its next block begins.
        var pending = try sources.map { ($0, offset: try $0.earlier?.offset(inPartOf: $0.size) ?? 0) }[...]
        try await withThrowingTaskGroup(of: (Int, Placed).self) { group in
            var (begun, delivered) = (0, 0)
            var finished: [Int: Placed] = [:]
            func begin() {
                while let (source, offset) = pending.first {
                    let size = min(blockSize(forPartOf: source.size), source.size - offset)
                    guard size > 0 else {
                        pending.removeFirst()
                        continue
                    }
                    pending[pending.startIndex].offset += size
                    let index = begun
                    begun += 1
                    group.addTask { (index, try block(of: source, at: offset, size: Int(size))) }
                    return
                }
            }
            for _ in 0..<(2 * cores) { begin() }
            while delivered < begun {
                while let block = finished.removeValue(forKey: delivered) {
                    delivered += 1
                    try await deliver(block)
                    begin()
                }
                if let (index, block) = try await group.next() { finished[index] = block }
            }
        }
    }

    private func block(of source: Source, at offset: Int64, size: Int) throws -> Placed {
        try Task.checkCancellation()
        let bytes = try source.read(offset, size)
        guard bytes.count == size else { throw CompressionError.sourceChanged(part: source.part) }
        let deflated = try Deflate.zlib(of: bytes, level: settings.level)
        let block = Block(decodedSize: size, form: deflated == nil ? .stored : .zlib, encoded: deflated ?? bytes)
        return (block, source.part, isLast: offset + Int64(size) == source.size)
    }

    /// Large blocks have the least overhead, but a small part should keep every core busy too.
    private func blockSize(forPartOf size: Int64) -> Int64 {
        min(Self.largestBlock, max(Self.smallestBlock, size / Int64(cores) + 1))
    }
}
