import ShipCompression
import StoreFormat

/// Strings that are texts in UTF-16, as the same texts in UTF-8. All other encodings, the dictionary and the words are made for these, and
/// most texts take half of the bytes.
///
/// Source: `Protocol/COLUMNS.md` 2, "UTF-16".
struct UTF16Strings {
    enum Order: UInt8 {
        case littleEndian = 0
        case bigEndian = 1

        /// SQLite's number for texts of this order.
        var textEncoding: UInt32 { self == .littleEndian ? 2 : 3 }
    }

    let order: Order
    /// Of the texts that were looked at, in UTF-8: all bytes, and those of characters of three bytes that go by a word each (`WordSearch`).
    private var (size, wide) = (0, 0)
    private let totalLength: Int

    /// How many strings are looked at, at most, and how many bytes of each.
    private static let (looked, lookedSize) = (16, 1024)

    /// - Parameter strings: Of even lengths.
    /// - Returns: `nil` if some of them are no texts in UTF-16, or likely something else.
    init?(_ strings: Strings) {
        let sample = stride(from: 0, to: strings.count, by: max(1, strings.count / Self.looked)).map {
            strings[$0].prefix(Self.lookedSize)
        }
        guard let order = Self.order(of: sample) else { return nil }
        self.order = order
        totalLength = strings.totalLength
        for string in sample {
            // The end may be within a pair of surrogates.
            guard let text = order.text(of: string) ?? order.text(of: string.dropLast(2)) else { return nil }
            for byte in text.utf8 {
                size += 1
                if 0xe0...0xed ~= byte { wide += 3 }
            }
        }
    }

    /// The bytes of units that tell the script have fewer values than those that tell the character. What is UTF-8 without control characters
    /// is no UTF-16, and no more than half of the units are control characters, as small numbers would be.
    private static func order(of sample: [ArraySlice<UInt8>]) -> Order? {
        var isFound = [[Bool]](repeating: [Bool](repeating: false, count: 256), count: 2)
        var (units, controls) = (0, [0, 0])
        for string in sample {
            for place in stride(from: string.startIndex, to: string.endIndex, by: 2) {
                let (first, second) = (string[place], string[place + 1])
                isFound[0][Int(first)] = true
                isFound[1][Int(second)] = true
                units += 1
                if second == 0, first < 9 { controls[0] += 1 }
                if first == 0, second < 9 { controls[1] += 1 }
            }
        }
        let (first, second) = (isFound[0].count { $0 }, isFound[1].count { $0 })
        let order = second < first ? Order.littleEndian : .bigEndian
        guard first != second, controls[Int(order.rawValue)] * 2 <= units else { return nil }
        let hasControls = isFound.contains { $0[..<9].contains(true) }
        return hasControls || !sample.allSatisfy(isUTF8) ? order : nil
    }

    private static func isUTF8(_ string: ArraySlice<UInt8>) -> Bool {
        // The end may be within a character.
        (0...(string.count < lookedSize ? 0 : 3)).contains {
            String(validating: string.dropLast($0), as: UTF8.self) != nil
        }
    }

    /// What words will save of texts that take `cost` without them: a quarter where all characters have three bytes.
    func wordGain(of cost: Int, _ effort: SegmentEffort) -> Int {
        // Segments of least time and deltas have no words.
        guard effort.thoroughness != .small, !effort.hasBase, totalLength >= WordSearch.fewest else { return 0 }
        return cost * wide / max(1, 4 * size)
    }
}

extension UTF16Strings.Order {
    fileprivate func text(of string: ArraySlice<UInt8>) -> String? {
        String(bytes: string, textEncoding: textEncoding)
    }
}

extension ColumnEncoder {
    /// - Returns: `false` if one of the strings is no text in UTF-16.
    func writeUTF16(_ strings: Strings, _ found: UTF16Strings?, _ depth: Int, _ areas: inout SegmentAreas) -> Bool {
        guard let found else { return false }
        var texts = Strings()
        for index in 0..<strings.count {
            guard let text = found.order.text(of: strings[index]) else { return false }
            texts.append(text.utf8)
        }
        areas.tag(found.order.rawValue)
        var inner = SegmentAreas()
        encode(texts, depth: depth + 1, areOfRows: false, into: &inner)
        inner.wordGain = found.wordGain(of: cost.of(inner.text), effort)
        areas.append(inner)
        return true
    }
}

extension ColumnDecoder {
    /// Texts in UTF-16, which are made of those in UTF-8.
    func utf16(_ count: Int, _ depth: Int, from source: inout SegmentReader) throws(CompressionError) -> Strings {
        guard let order = UTF16Strings.Order(rawValue: try source.control.byte()) else { throw .damaged(.segment) }
        let texts = try strings(count, depth: depth + 1, areOfRows: false, from: &source)
        var whole = Strings()
        for index in 0..<count {
            guard let text = String(validating: texts[index], as: UTF8.self) else { throw .damaged(.segment) }
            try source.spend(bytes: 2 * text.utf16.count)
            whole.append(text.bytes(textEncoding: order.textEncoding))
        }
        return whole
    }
}
