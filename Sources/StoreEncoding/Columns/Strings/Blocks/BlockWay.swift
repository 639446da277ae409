/// How a string is made of its content: the parser, the form of the block, and what is around it. It is one number.
///
/// Source: `Protocol/BLOCKS.md` 1.
struct BlockWay {
    /// The bytes around a block.
    enum Wrapper: Int, CaseIterable {
        case none
        /// Behind the size of the content.
        case sized
        /// Behind Mozilla's marker and the size of the content.
        case marked
        /// Between a head and a tail.
        case inside
        /// The same, and behind the size of the block.
        case measuredInside
    }

    let parser: Int
    let form: BlockForm
    let wrapper: Wrapper

    static let marker = Array("mozLz40\0".utf8)
    private static let forms = BlockForm.count

    init(parser: Int, form: BlockForm, wrapper: Wrapper) {
        (self.parser, self.form, self.wrapper) = (parser, form, wrapper)
    }

    /// - Returns: `nil` for a number that stands for nothing, as 0 does.
    init?(_ number: Int64) {
        let parsers = BlockParser.all.count
        guard number > 0, number <= Int64(parsers * Self.forms * Wrapper.allCases.count) else { return nil }
        let number = Int(number) - 1
        guard let wrapper = Wrapper(rawValue: number / parsers / Self.forms) else { return nil }
        self.init(parser: number % parsers, form: BlockForm(number: number / parsers % Self.forms), wrapper: wrapper)
    }

    var number: Int64 {
        Int64(1 + parser + BlockParser.all.count * (form.number + Self.forms * wrapper.rawValue))
    }

    /// Whether a head and a tail are given.
    var isInside: Bool { wrapper == .inside || wrapper == .measuredInside }

    /// The block with what follows from the wrapper.
    ///
    /// - Parameter corrections: All of them, in their order.
    /// - Returns: `nil` if there are corrections that cannot be, or that are left.
    func string(of content: ArraySlice<UInt8>, _ corrections: ArraySlice<BlockCorrection>) -> [UInt8]? {
        let parser = BlockParser.all[parser]
        var (left, blocks) = (corrections, [[BlockItem]]())
        var before = left.first?.before ?? -1
        guard corrections.allSatisfy({ $0.before >= 0 }) else { return nil }
        let pieces = content.pieces(of: parser.blockSize ?? max(1, content.count))
        for block in content.isEmpty ? [content] : pieces {
            var parse = BlockParse(block, parser)
            var items: [BlockItem] = []
            repeat {
                if before == 0, let correction = left.popFirst() {
                    guard let item = parse.item(of: correction) else { return nil }
                    items.append(item)
                    before = left.first?.before ?? -1
                } else {
                    items.append(parse.predicted())
                    before -= 1
                }
                if let item = items.last { parse.pass(item) }
            } while items.last?.length != 0
            blocks.append(items)
        }
        guard left.isEmpty, let bytes = form.bytes(of: blocks, content) else { return nil }
        switch wrapper {
        case .none, .inside: return bytes
        case .sized: return Self.size(content.count) + bytes
        case .marked: return Self.marker + Self.size(content.count) + bytes
        case .measuredInside: return Self.size(bytes.count) + bytes
        }
    }

    private static func size(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } }
}
