/// A block of Snappy or LZ4 that is a string, or is in one.
struct FoundBlock {
    let content: BlockContent
    let isLZ4: Bool
    let wrapper: BlockWay.Wrapper
    /// Where the block is, with what follows from the wrapper.
    let place: Range<Int>

    /// Fewer bytes say so little that anything may be a block.
    private static let shortest = 8
    /// Where records have a block of Snappy behind a head of theirs.
    private static let heads = [1, 2, 4, 8, 12, 16]
    private static let frameMagic: [UInt8] = [0x04, 0x22, 0x4d, 0x18]

    /// - Parameter limit: The most bytes that the block may stand for.
    init?(in string: ArraySlice<UInt8>, limit: Int) {
        guard string.count >= Self.shortest else { return nil }
        if string.starts(with: BlockWay.marker) {
            self.init(sized: .marked, string, behind: BlockWay.marker.count, limit: limit)
        } else if string.starts(with: Self.frameMagic) {
            self.init(frame: string, limit: limit)
        } else if let content = BlockContent(snappy: string, limit: limit) {
            self.init(content: content, isLZ4: false, wrapper: .none, place: string.indices)
        } else if let found = FoundBlock(sized: .sized, string, behind: 0, limit: limit) {
            self = found
        } else if let content = BlockContent(lz4: string, limit: limit), content.bytes.count > string.count {
            self.init(content: content, isLZ4: true, wrapper: .none, place: string.indices)
        } else {
            for head in Self.heads where string.count - head >= Self.shortest {
                let rest = string.dropFirst(head)
                guard let content = BlockContent(snappy: rest, limit: limit), content.hasMatches else { continue }
                self.init(content: content, isLZ4: false, wrapper: .inside, place: rest.indices)
                return
            }
            return nil
        }
    }

    private init(content: BlockContent, isLZ4: Bool, wrapper: BlockWay.Wrapper, place: Range<Int>) {
        (self.content, self.isLZ4, self.wrapper, self.place) = (content, isLZ4, wrapper, place)
    }

    /// A block of LZ4 behind the size of what it stands for.
    private init?(sized wrapper: BlockWay.Wrapper, _ string: ArraySlice<UInt8>, behind head: Int, limit: Int) {
        guard let size = Self.number(string.dropFirst(head)), size > 0, size <= limit,
            let content = BlockContent(lz4: string.dropFirst(head + 4), limit: size), content.bytes.count == size
        else { return nil }
        self.init(content: content, isLZ4: true, wrapper: wrapper, place: string.indices)
    }

    /// A frame of LZ4 that has one block.
    private init?(frame: ArraySlice<UInt8>, limit: Int) {
        guard let flags = frame.dropFirst(4).first, flags >> 6 == 1 else { return nil }
        // The magic number, two bytes of flags, the size of the content, a dictionary's number, and a checksum.
        let head = 4 + 2 + (flags & 8 == 0 ? 0 : 8) + (flags & 1 == 0 ? 0 : 4) + 1
        let rest = frame.dropFirst(head)
        // The highest bit says that a block is not compressed.
        guard let size = Self.number(rest), size > 0, size <= rest.count - 4, size >> 31 == 0 else { return nil }
        let place = rest.startIndex..<rest.startIndex + 4 + size
        guard let content = BlockContent(lz4: frame[place].dropFirst(4), limit: limit) else { return nil }
        self.init(content: content, isLZ4: true, wrapper: .measuredInside, place: place)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// By how many bytes it is smaller than what it stands for.
    var growth: Int { max(0, content.bytes.count - place.count) }

    /// By how many bytes a string is longer when the block that it is, or that is in it, is taken apart.
    static func growth(of string: ArraySlice<UInt8>) -> Int {
        FoundBlock(in: string, limit: SegmentLimits.deflatedString)?.growth ?? 0
    }

    /// The way of making it again.
    ///
    /// - Parameters:
    ///   - string: The string that it is in.
    ///   - hint: What made the one before.
    /// - Returns: `nil` if too much would have to be corrected for it to pay.
    func repetition(in string: ArraySlice<UInt8>, hint: BlockWay?) -> (way: BlockWay, corrections: [BlockCorrection])? {
        let (content, all) = (content.bytes[...], BlockParser.all)
        // The form shows without a parse.
        guard let items = self.content.blocks(of: nil) else { return nil }
        let forms = isLZ4 ? [.lz4] : (hint.map { $0.form == .lz4 ? [] : [$0.form] } ?? []) + BlockForm.snappy
        let end = string[place]
        let form = forms.first { form in
            form.bytes(of: items, content).map { end.suffix($0.count) == $0[...] } ?? false
        }
        guard let form else { return nil }
        var best: (way: BlockWay, corrections: [BlockCorrection])?
        let parsers = all.indices.filter { (all[$0].blockSize == nil || !isLZ4) && (all[$0].unmatched > 0) == isLZ4 }
        let order = (hint.map(\.parser).flatMap { parsers.contains($0) ? [$0] : nil } ?? []) + parsers
        for parser in order {
            guard let blocks = self.content.blocks(of: all[parser].blockSize) else { continue }
            let most = min(
                best.map { $0.corrections.count - 1 } ?? Int.max,
                min(place.count, content.count) / BlockCorrection.bytes)
            guard let corrections = Self.corrections(of: blocks, content, all[parser], most: most) else { continue }
            best = (BlockWay(parser: parser, form: form, wrapper: wrapper), corrections)
            // Another parser would hardly do better.
            if corrections.count * Self.good <= blocks.reduce(0, { $0 + $1.count }) { break }
        }
        guard let best, best.way.string(of: content, best.corrections[...]).map({ $0[...] == string[place] }) == true
        else { return nil }
        return best
    }

    /// One correction in so many items is what another parser hardly does without.
    private static let good = 16

    /// - Returns: `nil` if there are more than `most`.
    private static func corrections(
        of blocks: [[BlockItem]], _ content: ArraySlice<UInt8>, _ parser: BlockParser, most: Int
    ) -> [BlockCorrection]? {
        var (corrections, before, place) = ([BlockCorrection](), 0, content.startIndex)
        for items in blocks {
            let size = items.reduce(0) { $0 + $1.literals + $1.length }
            var parse = BlockParse(content[place..<place + size], parser)
            place += size
            for item in items {
                if parse.predicts(item) {
                    before += 1
                } else {
                    guard corrections.count < most else { return nil }
                    corrections.append(parse.correction(for: item, before: before))
                    before = 0
                }
                parse.pass(item)
            }
        }
        return corrections
    }
}
