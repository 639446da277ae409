/// The payload of QUESTION: what is the newest state of a store, now that this has come?
///
///     0  8 bytes  a nonce, which the answer has as well
///     8  the rest  the name of the store
///
/// Source: `Protocol/README.md` sections 5.8 and 6.6. Vectors: `frame_question`, `dialogue_question_*`.
package struct Question: Hashable, Sendable {
    package static let largest = nonceSize + 128
    fileprivate static let nonceSize = 8

    package let nonce: UInt64
    package let name: StoreName

    package init(_ nonce: UInt64, about name: StoreName) { (self.nonce, self.name) = (nonce, name) }

    /// - Throws: `.badMessage` for what is no name of a store.
    init(decoding payload: ArraySlice<UInt8>) throws(ProtocolError) {
        guard payload.count > Self.nonceSize,
            let text = String(validating: payload.dropFirst(Self.nonceSize), as: UTF8.self), let name = StoreName(text)
        else { throw FrameType.question.bad("it names no store") }
        (nonce, self.name) = (UInt64(bigEndianBytes: payload.prefix(Self.nonceSize)), name)
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(bigEndian: nonce)
        bytes += Array(name.text.utf8)
    }
}

/// The payload of NEWEST, the answer: which content the store had when the producer read it, after the question had come.
///
///     0  8 bytes  the nonce of the question
///     8  16 bytes  the id of the content of the manifest of that state
///
/// Source: `Protocol/README.md` sections 5.8 and 6.6. Vectors: `frame_newest`, `dialogue_question_*`.
package struct Newest: Hashable, Sendable {
    package static let size = Question.nonceSize + ManifestContent.ID.size

    package let nonce: UInt64
    package let content: ManifestContent.ID

    package init(answering nonce: UInt64, _ content: ManifestContent.ID) {
        (self.nonce, self.content) = (nonce, content)
    }

    /// - Throws: `.badMessage` for another length.
    init(decoding payload: ArraySlice<UInt8>) throws(ProtocolError) {
        guard payload.count == Self.size else { throw FrameType.newest.bad("its length") }
        nonce = UInt64(bigEndianBytes: payload.prefix(Question.nonceSize))
        content = ManifestContent.ID(bytes: Array(payload.dropFirst(Question.nonceSize)))
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(bigEndian: nonce)
        bytes += content.bytes
    }
}
