/// How heads, bundles and catalogs are packed: one raw deflate stream (RFC 1951), whose window holds the dictionary of messages and then that of
/// publications; and behind it the bytes of strings of digits. After a quotation mark the stream says which come where:
///
///     !  #  $   the digits of the next 16, 32 or 64 bytes, and the mark at their end
///     %         such a string again, and 1 byte: `1` for the last one, and so on
///     &         nothing: the mark stands for itself
///
/// Source: `Protocol/PUBLISHED.md` section 2.
enum PublicationText {
    private static let mark = UInt8(ascii: "\"")
    private static let sizes = [UInt8(ascii: "!"): 16, UInt8(ascii: "#"): 32, UInt8(ascii: "$"): 64]
    private static let (again, itself) = (UInt8(ascii: "%"), UInt8(ascii: "&"))
    /// The last string, and how many of those before it can be said.
    private static let (last, mostAgain) = (UInt8(ascii: "1"), 200)

    static func packed(_ bytes: [UInt8]) -> [UInt8] {
        var (text, values, known, rest) = ([UInt8](), [UInt8](), [[UInt8]](), bytes[...])
        while let byte = rest.popFirst() {
            text.append(byte)
            guard byte == mark, let next = rest.first else { continue }
            let found = sizes.lazy.compactMap { code, size in
                guard rest.dropFirst(2 * size).first == mark else { return nil as (code: UInt8, bytes: [UInt8])? }
                let digits = String(decoding: rest.prefix(2 * size), as: UTF8.self)
                return ContentDigest.bytes(size, ofHex: digits).map { (code, $0) }
            }.first
            if let found {
                let before = known.reversed().prefix(mostAgain).enumerated().first { $0.element == found.bytes }
                text += before.map { [again, last + UInt8($0.offset)] } ?? [found.code]
                if before == nil { values += found.bytes }
                known.append(found.bytes)
                rest = rest.dropFirst(2 * found.bytes.count + 1)
            } else if sizes[next] != nil || [again, itself].contains(next) {
                text.append(itself)
            }
        }
        // A stream of random bytes is longer than they are, by less than this.
        let room = text.count + text.count / 1000 + 64
        return (PresetDeflate.deflate(text, after: window, within: room) ?? []) + values
    }

    /// - Returns: At most `Limits.publicationText` bytes.
    /// - Throws: `.badMessage`, `.damaged`.
    static func unpacked(_ file: ArraySlice<UInt8>) throws(ProtocolError) -> [UInt8] {
        switch PresetDeflate.inflateFirst(file, after: window, limit: Limits.publicationText) {
        case .success(let found): return try completed(found.bytes, with: found.rest)
        case .failure(.tooLong): throw tooLong
        case .failure(.damaged): throw damaged
        }
    }

    private static func completed(_ text: [UInt8], with values: ArraySlice<UInt8>) throws(ProtocolError) -> [UInt8] {
        var (bytes, strings, text, values) = ([UInt8](), [[UInt8]](), text[...], values)
        while let byte = text.popFirst() {
            bytes.append(byte)
            guard bytes.count <= Limits.publicationText else { throw tooLong }
            guard byte == mark, let code = text.first else { continue }
            if let size = sizes[code] {
                guard values.count >= size else { throw damaged }
                strings.append(ContentDigest.hex(of: Array(values.prefix(size))).utf8 + [mark])
                values = values.dropFirst(size)
            } else if code == again {
                text.removeFirst()
                let index = strings.count - 1 - Int(text.first ?? 0) + Int(last)
                guard strings.indices.contains(index) else { throw damaged }
                strings.append(strings[index])
            } else {
                if code == itself { text.removeFirst() }
                continue
            }
            text.removeFirst()
            bytes += strings.last ?? []
        }
        guard bytes.count <= Limits.publicationText else { throw tooLong }
        guard values.isEmpty else { throw damaged }
        return bytes
    }

    private static let damaged = ProtocolError.damaged(.message(FrameType.manifest.rawValue))
    private static let tooLong = FrameType.manifest.bad("it becomes more than \(Limits.publicationText) bytes")

    private static let window = FrameType.messageDictionary + dictionary

    /// The words of publications.
    ///
    /// Source: `Protocol/publication-dictionary.txt`, `Protocol/PUBLISHED.md` section 2.
    static let dictionary: [UInt8] = dictionaryLines.flatMap { line in
        ContentDigest.bytes(line.utf8.count / 2, ofHex: line) ?? Array(line.utf8)
    }

    private static let dictionaryLines = [
        ##"{"bundle":{"sha256":"#,"size":1},"leaps":[{"catalog":{"counter":1,"sha256":"#,"size":1},"counter":1,"from":"!,"sha256":"#,"size":1,"##,
        ##""to":"!}],"name":"","skips":[],"steps":[{"counter":1,"from":"!,"size":1,"to":"!}],"whole":{"counter":1,"sha256":"#,"size":1,"to":"!}}"##,
        ##"020000010004"##,
        ##"{"counter":1,"createdAt":"2026-12-01T00:00:00Z","producer":{"software":"ship-store 0.1.0","sqlite":"3.40.1"},"store":{"sha256":"#},"##,
        ##""tables":{"":{"digest":"!}}}"##,
        ##"040000000e0300000000000000000000000000050000000006000000000600000000"##,
        ##"{"expires":"2027-01-01T00:00:00Z","halted":[],"issued":"2026-12-01T00:00:00Z","number":1,"publication":"#,"software":"ship-store 0.1.0","##,
        ##""stores":[{"asOf":"2026-12-01T00:00:00Z","catalog":{"sha256":"#,"size":1},"counter":1,"name":"","newest":"!,"size":1,"steps":[{"counter":1,"##,
        ##""from":"!,"size":1,"to":"!},{"counter":1,"from":"%1,"signature":"$,"size":1,"to":"%5}]}]}"##,
    ]
}
