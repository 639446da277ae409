import ShipProtocol

/// What an encoder has to know of a piece that it made in an earlier session, to go on after it.
///
/// It is kept beside the piece, and a file may have been tampered with since: an encoder looks at what it says before it goes by it.
package struct PieceNote: Hashable, Sendable {
    /// As it is kept: the lowest bit says whether the piece is the last of its part, the others are the setting.
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// - Parameter setting: Below 2^63.
    package init(_ setting: UInt64, isLast: Bool) { rawValue = setting << 1 | (isLast ? 1 : 0) }

    package var isLast: Bool { rawValue & 1 == 1 }

    /// Of `columns` the capacity of the segment, of `delta` the level, of `blocks` the decoded size in bytes.
    package var setting: UInt64 { rawValue >> 1 }
}

/// The whole pieces of a part that have been made already, in an earlier session: an encoder makes those that follow them.
package struct EarlierPieces: Sendable {
    /// One for each, in order.
    package let notes: [PieceNote]
    private let data: @Sendable (_ index: Int) throws -> [UInt8]

    /// They are not what the encoder would have made, or say of themselves what none can: nothing can follow them.
    package struct Mismatch: Error, Hashable, Sendable { package init() {} }

    /// - Parameter read: Called for one after the other, and not for all: what goes by its rows is decoded again if that is asked for,
    ///   and a delta is compared.
    package init(_ notes: [PieceNote], read: @escaping @Sendable (_ index: Int) throws -> [UInt8]) {
        self.notes = notes
        data = read
    }

    package var count: Int { notes.count }

    /// The data of one of them. One that cannot be read is as good as none.
    ///
    /// - Throws: `Mismatch`, `CancellationError`.
    func read(_ index: Int) throws -> [UInt8] {
        do {
            return try data(index)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Mismatch()
        }
    }

    /// What a segment of rows was made by.
    ///
    /// - Throws: `Mismatch` for a capacity that none has.
    var capacities: [Int] {
        get throws(Mismatch) {
            try checked { note in
                note.setting <= UInt64(SegmentContent.Capacities.mostOfAll) && note.setting > 0
                    ? Int(note.setting) : nil
            }
        }
    }

    /// The level of a whole delta; `nil` for no pieces.
    ///
    /// - Throws: `Mismatch` if there are several, or one that there is not.
    var level: CompressionLevel? {
        get throws(Mismatch) {
            let levels = try checked { CompressionLevel(recorded: $0.setting) }
            guard let first = levels.first else { return nil }
            guard levels.allSatisfy({ $0 == first }) else { throw Mismatch() }
            return first
        }
    }

    /// Bytes of a part that its blocks stand for.
    ///
    /// - Parameter size: Of the part, in bytes.
    /// - Throws: `Mismatch` for blocks that cannot be of it.
    package func offset(inPartOf size: Int64) throws(Mismatch) -> Int64 {
        let sizes = try checked { (1...UInt64(Limits.blockSize)).contains($0.setting) ? Int64($0.setting) : nil }
        var offset: Int64 = 0
        for (block, note) in zip(sizes, notes) {
            offset += block
            guard offset <= size, note.isLast == (offset == size) else { throw Mismatch() }
        }
        return offset
    }

    /// What all notes say; none but the last may be of the last piece.
    private func checked<Value>(_ value: (PieceNote) -> Value?) throws(Mismatch) -> [Value] {
        guard !notes.dropLast().contains(where: \.isLast) else { throw Mismatch() }
        var values: [Value] = []
        for note in notes {
            guard let value = value(note) else { throw Mismatch() }
            values.append(value)
        }
        return values
    }
}
