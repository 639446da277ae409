/// The payload of HELLO, MANIFEST, ANSWER and RECEIPT: their JSON, deflated. For a small store each byte of it counts.
///
///     0  1 byte    how: 0 stored, 1 deflate, 2 difference, 3 answer
///     1  16 bytes  only in a difference: the id of the content that it differs from
///     1  rest      the JSON, or a raw deflate stream (RFC 1951) of it. The window of the stream begins as the dictionary and that
///                  content; in an answer, as the dictionary, that content and the manifest's own
///
/// Source: `Protocol/README.md` section 3.5. Vectors: `packed_*`.
extension FrameType {
    private static let storedForm: UInt8 = 0
    private static let deflatedForm: UInt8 = 1
    private static let differenceForm: UInt8 = 2
    private static let answerForm: UInt8 = 3

    /// How far a stream may reach back, in bytes.
    private static let windowSize = 32 * 1024

    /// Packs a message in the shortest way that there is.
    ///
    /// - Parameters:
    ///   - base: What a manifest may refer to, as the other side holds it.
    ///   - mustRefer: Whether it has to, so that the other side knows the base of the shipment, though it takes more bytes.
    ///   - offer: What an answer or a receipt may refer to.
    /// - Throws: `.payloadTooLong` for a manifest that lists too much.
    func packed(
        _ json: [UInt8], over base: ManifestContent? = nil, mustRefer: Bool = false,
        answering offer: [ManifestContent] = []
    ) throws(ProtocolError) -> [UInt8] {
        guard json.count <= jsonLimit else {
            throw .payloadTooLong(type: rawValue, length: UInt32(clamping: json.count), limit: jsonLimit)
        }
        var shortest = Self.plain(json)
        if let stream = PresetDeflate.deflate(json, after: Self.window(after: [])), 1 + stream.count < shortest.count {
            shortest = [Self.deflatedForm] + stream
        }
        let references = [
            base.map { (head: [Self.differenceForm] + $0.id.bytes, contents: [$0]) },
            offer.isEmpty ? nil : (head: [Self.answerForm], contents: offer),
        ]
        for case let (head, contents)? in references {
            guard let stream = PresetDeflate.deflate(json, after: Self.window(after: contents)) else { continue }
            if mustRefer || head.count + stream.count < shortest.count { shortest = head + stream }
        }
        return shortest
    }

    /// A message that is not packed.
    static func plain(_ json: [UInt8]) -> [UInt8] { [storedForm] + json }

    /// - Parameters:
    ///   - held: What this side has told the other one that it holds.
    ///   - offer: What the message answers, if anything.
    /// - Returns: The JSON, of at most the type's limit.
    /// - Throws: `.badMessage` for an unknown first byte, or a reference to what this side does not hold; `.damaged` for a bad stream
    ///   or one that does not end with the payload; `.inflatedTooLong` as soon as it does.
    func unpacked(
        _ payload: ArraySlice<UInt8>, over held: HeldContents = HeldContents(), answering offer: [ManifestContent] = []
    ) throws(ProtocolError) -> [UInt8] {
        let content = payload.dropFirst()
        switch payload.first {
        case Self.storedForm: return Array(content)
        case Self.deflatedForm: return try inflate(content, after: [])
        case Self.differenceForm where self == .manifest:
            guard let id = Self.base(ofManifest: payload), let base = held[id] else {
                throw bad("it differs from what is not held")
            }
            return try inflate(content.dropFirst(ManifestContent.ID.size), after: [base])
        case Self.answerForm where self == .answer || self == .receipt:
            guard !offer.isEmpty else { throw bad("it refers to a manifest that there is not") }
            return try inflate(content, after: offer)
        default: throw bad("it is packed in no known way")
        }
    }

    /// - Parameter payload: Of MANIFEST.
    /// - Returns: The content that it refers to; `nil` for none.
    static func base(ofManifest payload: ArraySlice<UInt8>) -> ManifestContent.ID? {
        guard payload.first == differenceForm else { return nil }
        return ManifestContent.ID(bytes: Array(payload.dropFirst().prefix(ManifestContent.ID.size)))
    }

    /// The bytes that a stream may refer to at its beginning.
    private static func window(after contents: [ManifestContent]) -> [UInt8] {
        Array((messageDictionary + contents.flatMap(\.json)).suffix(windowSize))
    }

    private func inflate(
        _ input: ArraySlice<UInt8>, after contents: [ManifestContent]
    ) throws(ProtocolError) -> [UInt8] {
        switch PresetDeflate.inflate(input, after: Self.window(after: contents), limit: jsonLimit) {
        case .success(let output): return output
        case .failure(.tooLong): throw .inflatedTooLong(type: rawValue, limit: jsonLimit)
        case .failure(.damaged): throw .damaged(.message(rawValue))
        }
    }

    /// The preset dictionary of deflated messages: the words of messages. Those of most manifests come last, where references to them
    /// are shortest. It saves about 180 bytes a manifest, a fifth to a half of it.
    ///
    /// Source: `Protocol/message-dictionary.txt`, `Protocol/README.md` section 3.5.
    static let messageDictionary = Array(dictionaryLines.joined().utf8)

    private static let dictionaryLines = [
        #"{"encodings":["delta","columns"],"holds":[{"kept":["manifest":"","name":""}],"software":"ship-store 0.1.0"}"#,
        #"{"wants":[{"base":"encodings":["blocks"],"part":0},{"part":1}]}"#,
        #"{"generation":1,"name":"","outcome":"unchanged","sha256":"","outcome":"installed","sha256":""#,
        #""missingExternalFiles":[{"folder":"_FBF","name":"omissions":{"externalFiles":[{"folder":"_EXTERNAL_DATA","name":""#,
        #""history":true,"tables":["metadata":{"requires":["gpkg_sqlite_sequence_content_docsize_segments_segdir_stat_config_data_idx_node_parent_rowid_fts"#,
        #"UTF-16leUTF-16bepageSize":1024,"pageSize":8192,"pageSize":16384,"#,
        #""rows":0},"ACHANGE":{"digest":"ATRANSACTION":{"digest":"ATRANSACTIONSTRING":{"digest":""#,
        #"{"coreData":{"entityVersionHashes":{"="},"createdAt":"2026-10T12:30:00Z","externalFiles":[{"folder":"_EXTERNAL_DATA","name":""#,
        #"","sha256":"","size":},"identity":"-4","name":""#,
        #"","producer":{"software":"ship-store 0.1.0","sqlite":"3.40.1"},"store":{"applicationID":0,"pageCount":1,"pageSize":4096,"schemaSHA256":""#,
        #"","sha256":"0123456789abcdef","size":","textEncoding":"UTF-8","userVersion":0},"tables":{""#,
        #"":{"digest":"e3b0c44298fc1c14","rows":0},"Z_METADATA":{"digest":"","rows":1},"Z_MODELCACHE":{"digest":"","rows":1},"Z_PRIMARYKEY":{"digest":"","rows":1}}}"#,
    ]
}
