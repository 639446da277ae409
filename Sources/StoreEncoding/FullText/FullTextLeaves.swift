import StoreFormat

/// Makes the leaves of a full-text index (FTS5) from its postings.
///
/// Source: `Protocol/COLUMNS.md` section 1.4; SQLite's `fts5_index.c`, "Segment leaf pages".
struct FullTextLeaves {
    /// Where a leaf begins or ends.
    struct Place: Hashable {
        /// Postings that are passed.
        var postings = 0
        /// The part of the next posting that is passed: 0 nothing, 1 its term, and 2 more than the bytes of its positions after its rowid.
        var part = 0
    }

    /// Longest leaf, without the offsets of its terms.
    static let longest = Int(UInt16.max)

    static let mostOfItem = 1_048_576

    private var entries: SortedEntries
    /// Postings that have been read. Those before `first` are passed.
    private var read: [Posting] = []
    private var first = 0
    /// The part of the first posting that is passed.
    private(set) var part = 0

    init(_ entries: SortedEntries) { self.entries = entries }

    /// The record of the row that has a leaf: NULL in place of the rowid, and the leaf.
    static func record(of leaf: [UInt8]) -> [UInt8] {
        var header: [UInt8] = [UInt8(SerialType.null)]
        Varint.append(SerialType.blob(length: leaf.count), to: &header)
        return [UInt8(header.count + 1)] + header + leaf
    }

    /// A posting that is not passed, counted from the first.
    mutating func posting(_ index: Int) throws -> Posting? {
        while first + index >= read.count {
            var posting: Posting?
            guard try entries.next({ posting = Posting($0) }), let posting else { return nil }
            if first > 4096 {
                read.removeFirst(first)
                first = 0
            }
            read.append(posting)
        }
        return read[first + index]
    }

    /// Passes postings. It does not go beyond the last.
    ///
    /// - Returns: Whether there are as many.
    mutating func pass(_ place: Place) throws -> Bool {
        for _ in 0..<place.postings {
            guard try posting(0) != nil else { return false }
            first += 1
        }
        part = place.part
        return true
    }

    /// The leaf that begins here. It passes nothing.
    ///
    /// - Parameter size: Its size without the offsets of its terms.
    /// - Returns: The leaf and where it ends, from here; `nil` if no leaf has this size.
    mutating func leaf(_ size: Int) throws -> (bytes: [UInt8], end: Place)? {
        guard size >= 4, size <= Self.longest else { return nil }
        var leaf: [UInt8] = [0, 0, UInt8(size >> 8), UInt8(size & 0xff)]
        var (offsets, lastOffset): ([UInt8], Int) = ([], 0)
        var (term, rowid): ([UInt8]?, Int64?) = (nil, nil)
        var end = Place(part: part)
        while leaf.count < size {
            guard let posting = try posting(end.postings) else { return nil }
            switch end.part {
            case 0:
                Varint.append(UInt64(leaf.count - lastOffset), to: &offsets)
                lastOffset = leaf.count
                let shared = term.map { zip($0, posting.term).prefix { $0 == $1 }.count }
                if let shared { Varint.append(UInt64(shared), to: &leaf) }
                Varint.append(UInt64(posting.term.count - (shared ?? 0)), to: &leaf)
                leaf += posting.term[(shared ?? 0)...]
                (term, rowid) = (posting.term, nil)
                end.part = 1
            case 1:
                // The head names the first rowid only if it stands before the first term.
                if term == nil, rowid == nil {
                    leaf.replaceSubrange(0..<2, with: [UInt8(leaf.count >> 8), UInt8(leaf.count & 0xff)])
                }
                Varint.append(UInt64(bitPattern: posting.rowid &- (rowid ?? 0)), to: &leaf)
                Varint.append(UInt64(posting.positions.count) * 2, to: &leaf)
                rowid = posting.rowid
                end.part = 2
            default:
                guard end.part - 2 < posting.positions.count else { return nil }
                let rest = posting.positions[(end.part - 2)...].prefix(size - leaf.count)
                leaf += rest
                end.part += rest.count
                guard end.part - 2 == posting.positions.count else { break }
                end.postings += 1
                end.part = try self.posting(end.postings)?.term == posting.term ? 1 : 0
            }
        }
        return leaf.count == size ? (leaf + offsets, end) : nil
    }
}
