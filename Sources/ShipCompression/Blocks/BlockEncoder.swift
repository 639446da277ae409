package import ShipProtocol

/// The bytes of parts into blocks: deflated on all cores, delivered in order, with back-pressure.
///
/// Memory: at most `2 x cores` blocks are under way, each of at most 1 MiB and its encoding.
/// Source: `Protocol/README.md` section 3.4.
package struct BlockEncoder: Sendable {
    private let dial: EffortDial
    private let cores: Int

    /// - Parameters:
    ///   - dial: Looked at before each block.
    ///   - cores: How many blocks are deflated at the same time.
    package init(_ dial: EffortDial, cores: Int) {
        self.dial = dial
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

    /// A block, and where it belongs.
    package struct Placed: Sendable {
        package let block: Block
        /// Index of the part.
        package let part: Int
        /// Whether the part ends with it.
        package let isLast: Bool
    }

    /// Encodes all parts, in order.
    ///
    /// - Parameter deliver: Called with one block after the other; while it waits, at most the blocks under way are
    ///   finished, and no more are begun.
    /// - Throws: `CompressionError`, `EarlierPieces.Mismatch`, what `read` and `deliver` throw, and `CancellationError`.
    package func encode(_ sources: [Source], deliver: (Placed) async throws -> Void) async throws {
        var pending = try Pieces(of: sources, cores: cores)
        try await withThrowingTaskGroup(of: (Int, Placed).self) { group in
            var (begun, delivered) = (0, 0)
            var finished: [Int: Placed] = [:]
            func begin() {
                guard let piece = pending.next() else { return }
                let index = begun
                begun += 1
                group.addTask { (index, try self.block(of: piece)) }
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

    private func block(of piece: Piece) throws -> Placed {
        try Task.checkCancellation()
        let bytes = try piece.source.read(piece.offset, piece.size)
        guard bytes.count == piece.size else { throw CompressionError.sourceChanged(part: piece.source.part) }
        let deflated = try Deflate.stream(of: bytes, level: dial.level)
        return Placed(
            block: Block(
                decodedSize: piece.size, form: deflated == nil ? .stored : .zlib, encoded: deflated ?? bytes),
            part: piece.source.part, isLast: piece.offset + Int64(piece.size) == piece.source.size)
    }
}

/// What one block is made from.
private struct Piece: Sendable {
    let source: BlockEncoder.Source
    let offset: Int64
    let size: Int
}

/// The pieces of all parts, in order.
private struct Pieces: IteratorProtocol {
    private static let largestBlock = Int64(Limits.blockSize)
    /// What a core deflates in about 3 ms, and what loses 0.3 % against the largest.
    private static let smallestBlock: Int64 = 256 * 1024

    /// Each with where it begins.
    private var sources: ArraySlice<(source: BlockEncoder.Source, start: Int64)>
    /// Of the first of them, what has been given.
    private var given: Int64 = 0
    private let cores: Int

    init(of sources: [BlockEncoder.Source], cores: Int) throws {
        self.sources = try sources.map { ($0, try $0.earlier?.offset(inPartOf: $0.size) ?? 0) }[...]
        self.cores = cores
    }

    mutating func next() -> Piece? {
        while let (source, start) = sources.first {
            let offset = start + given
            let size = min(blockSize(forPartOf: source.size), source.size - offset)
            guard size > 0 else {
                sources.removeFirst()
                given = 0
                continue
            }
            given += size
            return Piece(source: source, offset: offset, size: Int(size))
        }
        return nil
    }

    /// Large blocks have the least overhead, but a small part should keep every core busy too.
    private func blockSize(forPartOf size: Int64) -> Int64 {
        min(Self.largestBlock, max(Self.smallestBlock, size / Int64(cores) + 1))
    }
}
