import ShipProtocol

/// The intact pieces of a part that an earlier session made. An encoder makes the pieces that follow them.
package struct EarlierPieces: Sendable {
    /// One for each piece, in order.
    package let notes: [PieceNote]
    private let data: @Sendable (_ index: Int) throws -> [UInt8]

    /// The encoder would have made other pieces, or their notes cannot be true: nothing can follow them.
    package struct Mismatch: Error, Hashable, Sendable { package init() {} }

    /// - Parameter read: Called for one piece after the other, but not for all pieces: an encoder of columns decodes them again if the user
    ///   asks for it, and an encoder of deltas compares them.
    package init(_ notes: [PieceNote], read: @escaping @Sendable (_ index: Int) throws -> [UInt8]) {
        self.notes = notes
        data = read
    }

    package var count: Int { notes.count }

    /// The data of a piece. A piece that cannot be read counts as a mismatch.
    ///
    /// - Throws: `Mismatch`, `CancellationError`.
    package func read(_ index: Int) throws -> [UInt8] {
        do {
            return try data(index)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Mismatch()
        }
    }

    /// The level of a delta; `nil` for no pieces.
    ///
    /// - Throws: `Mismatch` if pieces have different levels, or one that does not exist.
    package var level: CompressionLevel? {
        get throws(Mismatch) {
            let levels = try checked { CompressionLevel(recorded: $0.setting) }
            guard let first = levels.first else { return nil }
            guard levels.allSatisfy({ $0 == first }) else { throw Mismatch() }
            return first
        }
    }

    /// How many bytes of a part its blocks stand for.
    ///
    /// - Parameter size: Of the part, in bytes.
    /// - Throws: `Mismatch` for blocks that are not of this part.
    package func offset(inPartOf size: Int64) throws(Mismatch) -> Int64 {
        let sizes = try checked { (1...UInt64(Limits.blockSize)).contains($0.setting) ? Int64($0.setting) : nil }
        var offset: Int64 = 0
        for (block, note) in zip(sizes, notes) {
            offset += block
            guard offset <= size, note.isLast == (offset == size) else { throw Mismatch() }
        }
        return offset
    }

    /// The values of all notes. Only the last note may be that of a last piece.
    package func checked<Value>(_ value: (PieceNote) -> Value?) throws(Mismatch) -> [Value] {
        guard !notes.dropLast().contains(where: \.isLast) else { throw Mismatch() }
        var values: [Value] = []
        for note in notes {
            guard let value = value(note) else { throw Mismatch() }
            values.append(value)
        }
        return values
    }
}
