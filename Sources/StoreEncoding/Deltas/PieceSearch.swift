/// Finds bytes that moved: blocks of the base at any place of the new bytes, by a rolling hash.
///
/// Memory: 8 to 16 bytes for each block of the base, at most a million blocks, and about 200 KiB.
struct PieceSearch {
    private static let shortestBlock = 64
    private static let mostBlocks: Int64 = 1 << 20
    /// Bytes of either side that are read at once.
    private static let window = 65_536
    /// Most places of the new bytes whose hash equals that of a block of the base with other bytes. Each costs a read, and an attacker
    /// can make many. Beyond this number, one place for each block of new bytes is compared, and the others count as new bytes.
    private static let mostFalseCandidates: Int64 = 65_536
    /// Most slots that are looked at for a hash. Hardly any takes as many by chance; an attacker can make blocks that all want the same
    /// slot.
    private static let mostProbes = 256
    /// Most new bytes of one piece.
    private static let longestLiteral = 1 << 18
    private static let multiplier: UInt64 = 0x9e37_79b9_7f4a_7c15

    private let base: any ByteSource
    private let block: Int
    /// The factor of the first byte of a block in its hash.
    private let highest: UInt64
    /// Hash table of the blocks: the upper half of the hash, and the number of the block from 1 on; 0 for an empty slot.
    private var slots: [(tag: UInt32, block: UInt32)]

    init(_ base: any ByteSource) throws {
        self.base = base
        var block = Self.shortestBlock
        while base.size / Int64(block) > Self.mostBlocks { block *= 2 }
        self.block = block
        highest = (1..<block).reduce(1) { product, _ in product &* Self.multiplier }
        let count = Int(base.size) / block
        var slotCount = 16
        while slotCount < count * 3 / 2 { slotCount *= 2 }
        slots = Array(repeating: (0, 0), count: slotCount)
        var bytes: [UInt8] = []
        for number in 0..<count {
            if number % (Self.window / block + 1) == 0 {
                bytes = []
                let start = Int64(number) * Int64(block)
                try base.append(start..<min(base.size, start + Int64((Self.window / block + 1) * block)), to: &bytes)
            }
            let start = number % (Self.window / block + 1) * block
            let hash = bytes.withUnsafeBufferPointer { bytes in
                (start..<(start + block)).reduce(0) { $0 &* Self.multiplier &+ UInt64(bytes[$1]) }
            }
            note(hash, UInt32(number + 1))
        }
    }

    private static func slot(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: (hash &* multiplier) >> 32) }

    private mutating func note(_ hash: UInt64, _ block: UInt32) {
        var slot = Self.slot(hash) & (slots.count - 1)
        let tag = UInt32(truncatingIfNeeded: hash >> 32)
        for _ in 0..<Self.mostProbes {
            guard slots[slot].block != 0 else {
                slots[slot] = (tag, block)
                return
            }
            // The first of equal blocks is enough.
            if slots[slot].tag == tag { return }
            slot = (slot + 1) & (slots.count - 1)
        }
    }

    @inline(__always)
    private func find(_ hash: UInt64) -> Int64? {
        var slot = Self.slot(hash) & (slots.count - 1)
        let tag = UInt32(truncatingIfNeeded: hash >> 32)
        for _ in 0..<Self.mostProbes {
            guard slots[slot].block != 0 else { return nil }
            if slots[slot].tag == tag { return Int64(slots[slot].block - 1) * Int64(block) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Finds the pieces that make up the new bytes, and hands them out in order.
    func run(over new: any ByteSource, emit: (Piece) throws -> Void) throws {
        /// New bytes from `start` on.
        var buffer: [UInt8] = []
        var start: Int64 = 0
        /// Places in the buffer: of the first byte that is in no piece, and of the current block.
        var (literal, place) = (0, 0)
        var hash: UInt64?
        var falseCandidates: Int64 = 0
        func fill() throws {
            buffer.removeFirst(literal)
            start += Int64(literal)
            place -= literal
            literal = 0
            let end = start + Int64(buffer.count)
            try new.append(end..<min(new.size, end + Int64(max(Self.window, 2 * block))), to: &buffer)
        }
        while true {
            if place + block >= buffer.count, start + Int64(buffer.count) < new.size { try fill() }
            guard place + block <= buffer.count else { break }
            let value = hash ?? (place..<(place + block)).reduce(0) { $0 &* Self.multiplier &+ UInt64(buffer[$1]) }
            if let found = find(value),
                falseCandidates < Self.mostFalseCandidates + (start + Int64(place)) / Int64(block),
                let match = try extend(found, buffer, literal, place, &falseCandidates)
            {
                var step = Piece(
                    literal: Array(buffer[literal..<(place - match.before)]), offset: found - Int64(match.before),
                    length: Int64(match.before + match.after))
                literal = place + match.after
                place = literal
                hash = nil
                // The match may continue beyond the buffer.
                while literal == buffer.count, start + Int64(buffer.count) < new.size {
                    try fill()
                    let more = try common(step.offset + step.length, buffer, 0, firstRead: Self.window)
                    step.length += Int64(more)
                    literal = more
                    place = more
                    if more < buffer.count { break }
                }
                try emit(step)
                continue
            }
            if place + block < buffer.count {
                hash = (value &- UInt64(buffer[place]) &* highest) &* Self.multiplier &+ UInt64(buffer[place + block])
            } else {
                hash = nil
            }
            place += 1
            if place - literal >= Self.longestLiteral {
                try emit(Piece(literal: Array(buffer[literal..<place]), offset: 0, length: 0))
                literal = place
            }
        }
        if literal < buffer.count { try emit(Piece(literal: Array(buffer[literal...]), offset: 0, length: 0)) }
    }

    /// How far the new bytes equal those of the base, before and after a place.
    ///
    /// - Returns: `nil` if the block itself differs; `falseCandidates` is then incremented.
    private func extend(
        _ found: Int64, _ buffer: [UInt8], _ literal: Int, _ place: Int, _ falseCandidates: inout Int64
    ) throws -> (before: Int, after: Int)? {
        let after = try common(found, buffer, place, firstRead: block)
        guard after >= block else {
            falseCandidates += 1
            return nil
        }
        let most = Int(min(found, Int64(place - literal), Int64(Self.window)))
        var earlier: [UInt8] = []
        try base.append((found - Int64(most))..<found, to: &earlier)
        var before = 0
        while before < most, earlier[most - 1 - before] == buffer[place - 1 - before] { before += 1 }
        return (before, after)
    }

    /// The number of bytes of the buffer from a place on that equal those of the base from an offset on.
    ///
    /// - Parameter firstRead: Bytes of the first read of the base. Each read after an equal one is larger, so that a short match does
    ///   not cost the read of a long one.
    private func common(_ offset: Int64, _ buffer: [UInt8], _ place: Int, firstRead: Int) throws -> Int {
        var (count, most) = (0, min(firstRead, Self.window))
        while place + count < buffer.count, offset + Int64(count) < base.size {
            let from = offset + Int64(count)
            let size = min(Int64(most), Int64(buffer.count - place - count), base.size - from)
            var bytes: [UInt8] = []
            try base.append(from..<(from + size), to: &bytes)
            let same = bytes.withUnsafeBufferPointer { bytes in
                var same = 0
                while same < bytes.count, bytes[same] == buffer[place + count + same] { same += 1 }
                return same
            }
            count += same
            if same < bytes.count { break }
            most = min(8 * most, Self.window)
        }
        return count
    }
}
