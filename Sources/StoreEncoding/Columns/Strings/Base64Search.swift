/// Finds runs of base64 in texts.
struct Base64Search {
    let form: Base64Form
    /// Whether strings are in base64 as a whole, if at all. Others hold runs, of which some would be words.
    let areWhole: Bool

    /// Shorter runs are words and names as likely.
    private static let shortest = 16
    /// Runs from this length on are no names, whatever is in them.
    private static let long = 64
    /// Digits in a line, at least and at most.
    private static let lineLengths = 32...252

    /// - Parameter most: How many bytes of each string of the sample are looked at.
    /// - Returns: `nil` where hardly any runs are. `size` is how many of these bytes they have.
    static func search(in sample: [ArraySlice<UInt8>], most: Int) -> (search: Base64Search, size: Int)? {
        let texts = sample.filter { !$0.isEmpty }.map { $0.prefix(most) }
        let size = texts.reduce(0) { $0 + $1.count }
        // The end of a string shows its padding.
        let others = sample.map { $0.dropFirst(max(0, $0.count - most + 3) / 4 * 4) }.filter { !$0.allSatisfy(isOfHex) }
        let whole = Base64Form.all.map { form in (form: form, count: others.count { form.bytes(of: $0) != nil }) }
        if let best = whole.max(by: { $0.count < $1.count }), best.count * 2 >= texts.count,
            size >= shortest * texts.count
        {
            return (Base64Search(form: best.form, areWhole: true), size)
        }
        return [false, true].compactMap { runs(in: texts, isForURLs: $0) }.max { $0.size < $1.size }
    }

    private static func runs(in texts: [ArraySlice<UInt8>], isForURLs: Bool) -> (search: Base64Search, size: Int)? {
        var (size, padded, open) = (0, 0, 0)
        var lines: [Base64Lines: Int] = [:]
        let any = Base64Search(form: Base64Form(isForURLs: isForURLs, isPadded: false), areWhole: false)
        for text in texts {
            text.withUnsafeBufferPointer { text in
                any.scanDigits(text) { run in
                    size += run.count
                    if run.upperBound < text.count, text[run.upperBound] == Base64Form.padding {
                        padded += 1
                    } else if run.count % 4 != 0 {
                        open += 1
                    }
                    if let found = any.lines(in: text, after: run) { lines[found, default: 0] += 1 }
                    return run.upperBound
                }
            }
        }
        guard size > 0 else { return nil }
        let form = Base64Form(
            isForURLs: isForURLs, isPadded: padded >= open,
            lines: lines.max { ($0.value, $0.key.length, $0.key.text) < ($1.value, $1.key.length, $1.key.text) }?.key)
        return (Base64Search(form: form, areWhole: false), size)
    }

    private static func isOfHex(_ byte: UInt8) -> Bool { HexDigits.isDigit(byte) || byte == UInt8(ascii: "-") }

    /// The lines of which a run of digits is the first.
    private func lines(in text: UnsafeBufferPointer<UInt8>, after run: Range<Int>) -> Base64Lines? {
        guard Self.lineLengths ~= run.count, run.count % 4 == 0 else { return nil }
        var ending: [UInt8] = []
        // As it is, or as JSON has it.
        for part in ["\r", "\n", "\\r", "\\n"].map({ Array($0.utf8) })
        where text[(run.upperBound + ending.count)...].starts(with: part) {
            ending += part
        }
        guard !ending.isEmpty else { return nil }
        ending += text[(run.upperBound + ending.count)...].prefix {
            $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t")
        }
        guard ending.count <= SegmentLimits.lineEnding, digits(in: text, from: run.upperBound + ending.count) > 0 else {
            return nil
        }
        return Base64Lines(length: run.count, ending: ending)
    }

    /// How many digits stand at a place.
    private func digits(in text: UnsafeBufferPointer<UInt8>, from place: Int) -> Int {
        let values = form.values
        return values.withUnsafeBufferPointer { values in
            var end = place
            while end < text.count, values[Int(text[end])] != Base64Form.none { end += 1 }
            return end - place
        }
    }

    /// Finds the runs of a text, in order, with their bytes.
    func scan(_ text: UnsafeBufferPointer<UInt8>, _ found: (_ run: Range<Int>, _ bytes: [UInt8]) -> Void) {
        if areWhole {
            guard !text.allSatisfy(Self.isOfHex), let bytes = form.bytes(of: text) else { return }
            return found(0..<text.count, bytes)
        }
        var digits: [UInt8] = []
        scanDigits(text) { first in
            digits.removeAll(keepingCapacity: true)
            digits += text[first]
            var (end, lastLine) = (first.upperBound, first.count)
            if let lines = form.lines {
                guard first.count <= lines.length else { return end }
                while lastLine == lines.length, text[end...].starts(with: lines.ending) {
                    let start = end + lines.ending.count
                    let count = self.digits(in: text, from: start)
                    guard 1...lines.length ~= count else { break }
                    digits += text[start..<start + count]
                    (end, lastLine) = (start + count, count)
                }
            }
            // Lines have a multiple of four digits. What makes no four of them stays where it is, but at the end of a text without padding.
            let odd = digits.count % 4
            let padding = [UInt8](repeating: Base64Form.padding, count: odd > 1 ? 4 - odd : 0)
            if form.isPadded, !padding.isEmpty, text[end...].starts(with: padding) {
                digits += padding
                end += padding.count
            } else if form.isPadded || form.bytes(of: digits) == nil {
                digits.removeLast(odd)
                end -= odd
                if let lines = form.lines, odd == lastLine { end -= lines.ending.count }
            }
            guard let bytes = form.bytes(of: digits) else { return end }
            found(first.lowerBound..<end, bytes)
            return end
        }
    }

    /// Finds runs of digits that look like base64.
    ///
    /// - Parameter found: Returns where to go on.
    private func scanDigits(_ text: UnsafeBufferPointer<UInt8>, _ found: (_ run: Range<Int>) -> Int) {
        let values = form.values
        var place = 0
        while place <= text.count - Self.shortest {
            // A run of `shortest` has a digit at one of these places.
            guard values[Int(text[place + Self.shortest - 1])] != Base64Form.none else {
                place += Self.shortest
                continue
            }
            var start = place + Self.shortest - 1
            while start > place, values[Int(text[start - 1])] != Base64Form.none { start -= 1 }
            // As in `\n` before the first line.
            if start > 0, text[start - 1] == UInt8(ascii: "\\") { start += 1 }
            let run = start..<(start + digits(in: text, from: start))
            place = run.count >= Self.shortest && Self.isLikely(text[run]) ? found(run) : run.upperBound
        }
    }

    /// Whether it has small letters and large ones, and these and numbers alternate as they do in hardly any name. Paths and names with
    /// hexadecimal digits are none.
    private static func isLikely(_ run: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let looked = run.prefix(1 << 10)
        var (changes, last, hasUpper, hasLower) = (0, UInt8(0), false, false)
        for byte in looked {
            let kind = byte == UInt8(ascii: "_") ? 0x20 : byte & 0x60
            if kind != last { changes += 1 }
            last = kind
            hasUpper = hasUpper || kind == 0x40
            hasLower = hasLower || kind == 0x60
        }
        guard hasUpper, hasLower, changes * (looked.count < long ? 2 : 4) >= looked.count else { return false }
        return ![HexDigits.lower, .upper].contains { isHexadecimal(looked, $0) }
    }

    /// Whether half of it are hexadecimal digits, or so many in a row: a quarter of random base64 are, and of zeros all are `A`.
    private static func isHexadecimal(_ run: Slice<UnsafeBufferPointer<UInt8>>, _ digits: HexDigits) -> Bool {
        var (count, inARow) = (0, 0)
        for byte in run {
            let isDigit = byte != UInt8(ascii: "A") && digits.isDigit(byte)
            inARow = isDigit ? inARow + 1 : 0
            count += isDigit ? 1 : 0
            if inARow == shortest { return true }
        }
        return count * 2 > run.count
    }
}
