/// How heads and catalogs are packed: one raw deflate stream (RFC 1951), whose window holds the dictionary of messages.
///
/// Source: `Protocol/PUBLISHED.md` section 2.
enum PublicationText {
    static func packed(_ bytes: [UInt8]) -> [UInt8] {
        // A stream of random bytes is longer than they are, by less than this.
        let room = bytes.count + bytes.count / 1000 + 64
        return PresetDeflate.deflate(bytes, after: FrameType.messageDictionary, within: room) ?? []
    }

    /// - Returns: At most `Limits.publicationText` bytes.
    /// - Throws: `.badMessage`, `.damaged`.
    static func unpacked(_ stream: ArraySlice<UInt8>) throws(ProtocolError) -> [UInt8] {
        switch PresetDeflate.inflate(stream, after: FrameType.messageDictionary, limit: Limits.publicationText) {
        case .success(let bytes): return bytes
        case .failure(.tooLong):
            throw .badMessage(
                type: FrameType.manifest.rawValue, flaw: "it inflates to more than \(Limits.publicationText) bytes")
        case .failure(.damaged): throw .damaged(.message(FrameType.manifest.rawValue))
        }
    }
}
