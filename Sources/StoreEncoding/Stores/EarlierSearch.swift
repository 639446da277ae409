import StoreFormat

/// Finds what earlier segments have of the rows of a segment, by the hashes of some places of what it has seen.
///
/// The bytes themselves choose the places, so that equal bytes have the same places chosen wherever they stand: as many as the table has
/// room for, over the whole store. A repetition is found at one of them, and followed both ways. The work is one multiplication a byte.
///
/// Memory: 2 MiB, and four pages.
final class EarlierSearch {
    private static let slotBits: UInt64 = 18
    private static let keySize = 32
    /// A run takes some five bytes, and what refers to it as many: shorter ones are mostly words that come often.
    private static let shortest = 64
    /// Bytes beyond the shortest, in all runs of a segment, that are worth a dictionary.
    private static let leastGain = 1024
    /// After a place that is chosen, bytes that cannot be: in a run of equal bytes all would.
    private static let step = 8

    private let pages: any PageSource
    private let geometry: PageGeometry
    /// Bits of a hash that are 0 where a place is chosen.
    private let unchosen: UInt64
    /// The last place of each hash: see `Place`. 0 for none.
    private let slots: UnsafeMutablePointer<UInt64>
    /// The pages that were compared last.
    private var compared: [(number: UInt32, bytes: [UInt8])] = []
    private var nextCompared = 0
    /// The runs that were found for this segment.
    private var runs: [PageRun] = []
    /// How much of the rows of one group earlier segments have.
    private var found = (count: 0, bytes: 0)

    /// - Parameter pages: Of a canonical copy.
    init(_ pages: any PageSource, _ geometry: PageGeometry) {
        (self.pages, self.geometry) = (pages, geometry)
        let size = UInt64(pages.pageCount) * UInt64(geometry.pageSize)
        let rate = max(32, size >> Self.slotBits)
        let bits = UInt64(UInt64.bitWidth - (rate - 1).leadingZeroBitCount)
        unchosen = ((1 << bits) - 1) << (64 - bits)
        slots = .allocate(capacity: 1 << Int(Self.slotBits))
        slots.initialize(repeating: 0, count: 1 << Int(Self.slotBits))
    }

    deinit { slots.deallocate() }

    /// Where a key is: its page, offset and kind, and a few more bits of its hash.
    private struct Place {
        let bits: UInt64

        static let tagBits: UInt64 = 0x7fff

        init(page: UInt32, offset: Int, isChain: Bool, tag: UInt64) {
            bits = UInt64(page) << 32 | UInt64(offset) << 16 | (isChain ? Self.tagBits + 1 : 0) | tag
        }

        init(bits: UInt64) { self.bits = bits }

        var page: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }
        var offset: Int { Int(bits >> 16 & 0xffff) }
        var isChain: Bool { bits & (Self.tagBits + 1) != 0 }
        var tag: UInt64 { bits & Self.tagBits }
    }

    /// The segment ends.
    ///
    /// - Returns: The runs that hold what was found for it.
    func endSegment() -> [PageRun] {
        defer { runs.removeAll(keepingCapacity: true) }
        return runs.reduce(0, { $0 + $1.count - Self.shortest }) >= Self.leastGain ? runs : []
    }

    /// The finds since the last call.
    func takeFound() -> (count: Int, bytes: Int) {
        defer { found = (0, 0) }
        return found
    }

    // MARK: Search

    /// Looks at the bytes of a record, or at a part of them.
    ///
    /// - Parameters:
    ///   - cell: The cell of the record.
    ///   - start: Where the bytes begin in the record.
    ///   - written: Tells what earlier segments have.
    func look(at bytes: UnsafeRawBufferPointer, of cell: TreeCell, from start: Int = 0, _ written: WrittenPages) throws
    {
        guard let base = bytes.baseAddress else { return }
        var (place, matched) = (0, 0)
        while place <= bytes.count - Self.keySize {
            place = Self.chosen(base, from: place, upTo: bytes.count - Self.keySize, unchosen)
            guard place <= bytes.count - Self.keySize else { break }
            let mixed = Self.mixed(base + place)
            let slot = Int(truncatingIfNeeded: mixed >> (64 - Self.slotBits))
            let tag = mixed & Place.tagBits
            let earlier = Place(bits: slots[slot])
            if place >= matched, earlier.bits != 0, earlier.tag == tag, written.mayName(earlier.page),
                let (run, end) = try follow(bytes, place, floor: matched, earlier, written)
            {
                matched = end
                if run.count >= Self.shortest {
                    runs.append(run)
                    found.count += 1
                    found.bytes += run.count
                }
            }
            // Of several places the last is the nearest, and goes on longest where rows change from copy to copy.
            slots[slot] = self.place(start + place, of: cell, tag: tag).bits
            place += Self.step
        }
    }

    /// The first place that is chosen, or the one after `last`.
    private static func chosen(_ base: UnsafeRawPointer, from first: Int, upTo last: Int, _ unchosen: UInt64) -> Int {
        var place = first
        while place <= last, hash(base + place) & unchosen != 0 { place &+= 1 }
        return place
    }

    @inline(__always)
    private static func hash(_ place: UnsafeRawPointer) -> UInt64 {
        place.loadUnaligned(as: UInt64.self) &* 0x9e37_79b9_7f4a_7c15
    }

    /// The hash of all of a key.
    private static func mixed(_ key: UnsafeRawPointer) -> UInt64 {
        var mixed = hash(key)
        for offset in stride(from: 8, to: keySize, by: 8) {
            let word = key.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            mixed = (mixed ^ mixed >> 29 ^ word) &* 0xc2b2_ae3d_27d4_eb4f
        }
        return mixed ^ mixed >> 32
    }

    /// Where a byte of a record is.
    private func place(_ index: Int, of cell: TreeCell, tag: UInt64) -> Place {
        if index < cell.localSize {
            return Place(page: cell.page, offset: cell.start + index, isChain: false, tag: tag)
        }
        let index = index - cell.localSize
        let page = geometry.page(after: cell.overflow, by: index / geometry.overflowSize)
        return Place(page: page, offset: 4 + index % geometry.overflowSize, isChain: true, tag: tag)
    }

    /// Follows equal bytes both ways.
    ///
    /// - Returns: The run that equals bytes around `place`, and where these end; `nil` if the key is another.
    private func follow(
        _ bytes: UnsafeRawBufferPointer, _ place: Int, floor: Int, _ earlier: Place, _ written: WrittenPages
    ) throws -> (PageRun, end: Int)? {
        let usable = geometry.usableSize
        var (page, offset, end) = (earlier.page, earlier.offset, place)
        while end < bytes.count, written.mayName(page) {
            let other = try read(page)
            var count = 0
            other.withUnsafeBytes { other in
                let most = min(usable - offset, bytes.count - end)
                while count < most, other[offset + count] == bytes[end + count] { count += 1 }
            }
            end += count
            offset += count
            guard earlier.isChain, offset == usable else { break }
            (page, offset) = (geometry.page(after: page), 4)
        }
        guard end - place >= Self.keySize else { return nil }
        (page, offset) = (earlier.page, earlier.offset)
        var start = place
        let first = earlier.isChain ? 4 : 0
        while start > floor {
            let other = try read(page)
            other.withUnsafeBytes { other in
                while start > floor, offset > first, other[offset - 1] == bytes[start - 1] {
                    start -= 1
                    offset -= 1
                }
            }
            guard start > floor, offset == first, earlier.isChain else { break }
            var before = page - 1
            while before > written.roots, geometry.isSetAside(before) { before -= 1 }
            guard written.mayName(before), try read(before)[usable - 1] == bytes[start - 1] else { break }
            (page, offset) = (before, usable)
        }
        return (PageRun(page: page, offset: offset, count: end - start, isChain: earlier.isChain), end)
    }

    private func read(_ number: UInt32) throws -> [UInt8] {
        if let held = compared.first(where: { $0.number == number }) { return held.bytes }
        var bytes = [UInt8](repeating: 0, count: geometry.pageSize)
        try pages.read(number, into: &bytes)
        if compared.count < 4 {
            compared.append((number, bytes))
        } else {
            compared[nextCompared] = (number, bytes)
            nextCompared = (nextCompared + 1) % 4
        }
        return bytes
    }
}
