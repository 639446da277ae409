/// How heads, bundles and catalogs are packed: one raw deflate stream (RFC 1951), whose window holds the dictionary of messages and then that of
/// publications.
///
/// Source: `Protocol/PUBLISHED.md` section 2.
enum PublicationText {
    /// - Parameter binary: How many bytes come before text. They are deflated by themselves: that saves some 40 bytes.
    static func packed(_ bytes: [UInt8], binary: Int = 0) -> [UInt8] {
        // A stream of random bytes is longer than they are, by less than this.
        let room = bytes.count + bytes.count / 1000 + 64
        return PresetDeflate.deflate(bytes, after: window, within: room, firstBlock: binary) ?? []
    }

    /// - Returns: At most `Limits.publicationText` bytes.
    /// - Throws: `.badMessage`, `.damaged`.
    static func unpacked(_ stream: ArraySlice<UInt8>) throws(ProtocolError) -> [UInt8] {
        switch PresetDeflate.inflate(stream, after: window, limit: Limits.publicationText) {
        case .success(let bytes): return bytes
        case .failure(.tooLong):
            throw .badMessage(
                type: FrameType.manifest.rawValue, flaw: "it inflates to more than \(Limits.publicationText) bytes")
        case .failure(.damaged): throw .damaged(.message(FrameType.manifest.rawValue))
        }
    }

    /// Parts, each with its size before it, in 4 bytes.
    static func sized(_ parts: [UInt8]...) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in parts {
            bytes.append(bigEndian: UInt32(part.count))
            bytes += part
        }
        return bytes
    }

    /// Takes the first of these parts; `nil` where the bytes end before it does.
    static func takePart(from bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard bytes.count >= 4 else { return nil }
        let size = UInt32(bigEndianBytes: bytes.prefix(4))
        let rest = bytes.dropFirst(4)
        guard size <= rest.count else { return nil }
        bytes = rest.dropFirst(Int(size))
        return rest.prefix(Int(size))
    }

    private static let window = FrameType.messageDictionary + dictionary

    /// The words of publications, and what the certificates of all devices have in common. It saves some 250 bytes a head.
    ///
    /// Source: `Protocol/publication-dictionary.txt`, `Protocol/PUBLISHED.md` section 2.
    static let dictionary: [UInt8] = dictionaryLines.flatMap { line in
        ContentDigest.bytes(line.utf8.count / 2, ofHex: line) ?? Array(line.utf8)
    }

    private static let dictionaryLines = [
        #"{"bundle":{"sha256":"","size":1},"leaps":[{"catalog":{"counter":1,"sha256":"","size":1},"counter":1,"from":"","sha256":"","size":1,"#,
        #""to":""}],"name":"","skips":[],"steps":[{"counter":1,"from":"","size":1,"to":""}],"whole":{"counter":1,"sha256":"","size":1,"to":""}}"#,
        #"020000010004"#,
        #"{"counter":1,"createdAt":"2026-12-01T00:00:00Z","producer":{"software":"ship-store 0.1.0","sqlite":"3.40.1"},"store":{"sha256":""},"#,
        #""tables":{"":{"digest":""}}}"#,
        #"040000000e0300000000000000000000000000050000000006000000000600000000"#,
        #"3082017c30820122a003020102021500300a06082a8648ce3d040302301c311a301806035504030c11736869702d73746f7265206465766963653020170d3730"#,
        #"303130313030303030305a180f39393939313233313233353935395a301c311a301806035504030c11736869702d73746f726520646576696365305930130607"#,
        #"2a8648ce3d020106082a8648ce3d03010703420004a33f303d300c0603551d130101ff04023000300e0603551d0f0101ff040403020780301d0603551d250416"#,
        #"301406082b0601050507030106082b06010505070302300a06082a8648ce3d0403020348000030450221000220"#,
        #"{"expires":"2027-01-01T00:00:00Z","halted":[],"issued":"2026-12-01T00:00:00Z","number":1,"publication":"","software":"ship-store 0.1.0","#,
        #""stores":[{"asOf":"2026-12-01T00:00:00Z","catalog":{"sha256":"","size":1},"counter":1,"name":"","newest":"","size":1,"steps":[{"counter":1,"#,
        #""from":"","size":1,"to":""}]}]}"#,
    ]
}
