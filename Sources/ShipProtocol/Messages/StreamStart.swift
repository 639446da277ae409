/// What has come of a part in an earlier session that broke off: the beginning of its stream, which is the data of its DATA in one
/// encoding, one after the other, each preceded by its size as 4 bytes.
///
/// Source: `Protocol/README.md` sections 3.3 and 5.2.
package struct StreamStart: Hashable, Sendable {
    package let encoding: PartEncoding
    /// Bytes of the stream: at least 1.
    package let position: Int64
    /// Of these bytes.
    package let sha256: ContentDigest

    package init(_ encoding: PartEncoding, position: Int64, sha256: ContentDigest) {
        self.encoding = encoding
        self.position = position
        self.sha256 = sha256
    }
}

extension Answer {
    /// The same, as a message says it.
    package struct Start: Hashable, Sendable, Codable {
        package let encoding: ForeignText
        package let position: Int64
        package let sha256: ContentDigest

        init(_ start: StreamStart) {
            encoding = start.encoding.name
            position = start.position
            sha256 = start.sha256
        }
    }
}

extension Answer.Want {
    /// Whether it names the encoding in which it goes on, if it names any, and the base if that needs one.
    var wantsWhatItGoesOnIn: Bool {
        guard let from else { return true }
        if let encodings, !encodings.contains(from.encoding) { return false }
        return base != nil || PartEncoding(named: from.encoding)?.needsBase != true
    }

    /// What has come of the part before.
    ///
    /// - Parameter possible: In what it may come.
    /// - Returns: `nil` where nothing has, or in an encoding that is passed over.
    /// - Throws: `.badMessage` for one that is none of those, where it names none itself.
    func start(in possible: [PartEncoding]) throws(ProtocolError) -> StreamStart? {
        guard let from else { return nil }
        guard let encoding = PartEncoding(named: from.encoding), possible.contains(encoding) else {
            if encodings != nil { return nil }
            throw .badMessage(type: FrameType.answer.rawValue, flaw: "it goes on in what it does not want")
        }
        return StreamStart(encoding, position: from.position, sha256: from.sha256)
    }
}
