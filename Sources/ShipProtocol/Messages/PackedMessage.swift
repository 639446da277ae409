import CZlib

/// The payload of HELLO, MANIFEST, ANSWER and RECEIPT: their JSON, deflated. A small store pays for every byte of it.
///
///     0  1 byte    how: 0 stored, 1 deflate, 2 difference, 3 answer
///     1  16 bytes  difference alone: the id of the content that it differs from
///     1  rest      the JSON, or a raw deflate stream (RFC 1951) of it whose window begins as the dictionary, which that content
///                  follows; in an answer, that content and the manifest's own
///
/// Source: `Protocol/README.md` section 3.5. Vectors: `packed_*`.
enum PackedMessage {
    private static let stored: UInt8 = 0
    private static let deflated: UInt8 = 1
    private static let difference: UInt8 = 2
    private static let answer: UInt8 = 3

    /// How far a stream may reach back, in bytes.
    private static let windowSize = 32 * 1024

    /// In the shortest way that there is.
    ///
    /// What else than the dictionary a message may refer to.
    enum Reference {
        case none
        /// What the other side holds.
        case base(ManifestContent)
        /// What is answered.
        case offer(OfferedManifest)
    }

    /// - Throws: `.payloadTooLong` for a manifest that lists too much.
    static func packing(
        _ json: [UInt8], as type: FrameType, over reference: Reference = .none
    ) throws(ProtocolError) -> [UInt8] {
        guard json.count <= type.jsonLimit else { throw tooLong(json.count, type) }
        var shortest = [stored] + json
        if let stream = deflate(json, after: window(before: [])), 1 + stream.count < shortest.count {
            shortest = [deflated] + stream
        }
        let (head, bytes): ([UInt8], [UInt8])
        switch reference {
        case .none: return shortest
        case .base(let base): (head, bytes) = ([difference] + base.id.bytes, base.json)
        case .offer(let offer): (head, bytes) = ([answer], offer.bytes)
        }
        if let stream = deflate(json, after: window(before: bytes)), head.count + stream.count < shortest.count {
            shortest = head + stream
        }
        return shortest
    }

    /// - Parameters:
    ///   - held: What this side has said that it holds.
    ///   - offer: What it is the answer to, if anything.
    /// - Returns: The JSON, of at most the type's limit.
    /// - Throws: `.badMessage` if it is packed in no known way, or refers to what is not held; `.damaged` for a stream that is none
    ///   or does not end with the payload; `.payloadTooLong` as soon as it inflates to too much.
    static func unpacking(
        _ payload: ArraySlice<UInt8>, as type: FrameType, over held: HeldContents = HeldContents(),
        answering offer: OfferedManifest? = nil
    ) throws(ProtocolError) -> [UInt8] {
        let content = payload.dropFirst()
        switch payload.first {
        case stored: return Array(content)
        case deflated: return try inflate(content, after: window(before: []), type)
        case difference where type == .manifest:
            guard let id = base(ofManifest: payload), let base = held[id] else {
                throw .badMessage(type: type.rawValue, flaw: "it differs from what is not held")
            }
            return try inflate(content.dropFirst(ManifestContent.ID.size), after: window(before: base.json), type)
        case answer where type == .answer || type == .receipt:
            guard let offer else {
                throw .badMessage(type: type.rawValue, flaw: "it refers to a manifest that there is not")
            }
            return try inflate(content, after: window(before: offer.bytes), type)
        default: throw .badMessage(type: type.rawValue, flaw: "it is packed in no known way")
        }
    }

    /// - Parameter payload: Of MANIFEST.
    /// - Returns: What it refers to; `nil` for nothing.
    static func base(ofManifest payload: ArraySlice<UInt8>) -> ManifestContent.ID? {
        guard payload.first == difference else { return nil }
        return ManifestContent.ID(bytes: Array(payload.dropFirst().prefix(ManifestContent.ID.size)))
    }

    private static func window(before bytes: [UInt8]) -> [UInt8] {
        Array((MessageDictionary.bytes + bytes).suffix(windowSize))
    }

    private static func deflate(_ json: [UInt8], after dictionary: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        guard ship_deflate_init_raw(&stream, Z_BEST_COMPRESSION) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        guard deflateSetDictionary(&stream, dictionary, uInt(dictionary.count)) == Z_OK else { return nil }
        var isWhole = false
        let output = [UInt8](unsafeUninitializedCapacity: json.count) { output, count in
            json.withUnsafeBufferPointer { json in
                stream.next_in = UnsafeMutablePointer(mutating: json.baseAddress)
                stream.avail_in = uInt(json.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(output.count)
                isWhole = CZlib.deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = output.count - Int(stream.avail_out)
            }
        }
        return isWhole ? output : nil
    }

    private static func inflate(
        _ input: ArraySlice<UInt8>, after dictionary: [UInt8], _ type: FrameType
    ) throws(ProtocolError) -> [UInt8] {
        let (result, output, unused) = inflated(input, after: dictionary, limit: type.jsonLimit)
        switch result {
        case Z_STREAM_END where unused == 0 && output.count <= type.jsonLimit: return output
        case _ where output.count > type.jsonLimit: throw tooLong(output.count, type)
        default: throw .damaged(.message(type.rawValue))
        }
    }

    private static func tooLong(_ size: Int, _ type: FrameType) -> ProtocolError {
        .payloadTooLong(type: type.rawValue, length: UInt32(clamping: size), limit: type.jsonLimit)
    }

    /// Inflates piece by piece, so that memory grows with what comes out and no further than one byte past the limit.
    private static func inflated(
        _ input: ArraySlice<UInt8>, after dictionary: [UInt8], limit: Int
    ) -> (result: Int32, output: [UInt8], unused: Int) {
        var stream = z_stream()
        guard ship_inflate_init_raw(&stream) == Z_OK else { return (Z_MEM_ERROR, [], 0) }
        defer { inflateEnd(&stream) }
        guard inflateSetDictionary(&stream, dictionary, uInt(dictionary.count)) == Z_OK else {
            return (Z_MEM_ERROR, [], 0)
        }
        var output: [UInt8] = []
        let result = input.withUnsafeBufferPointer { input in
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = uInt(input.count)
            var result = Z_OK
            repeat {
                let room = min(64 * 1024, limit + 1 - output.count)
                output += [UInt8](unsafeUninitializedCapacity: room) { piece, count in
                    stream.next_out = piece.baseAddress
                    stream.avail_out = uInt(room)
                    result = CZlib.inflate(&stream, Z_NO_FLUSH)
                    count = room - Int(stream.avail_out)
                }
                // Out of room is no end; out of input is.
            } while result == Z_OK && stream.avail_out == 0 && output.count <= limit
            return result
        }
        return (result, output, Int(stream.avail_in))
    }
}

/// What a deflated message may refer to before its first byte: the words of messages, and those that most manifests have last,
/// where a reference to them is shortest. It saves about 180 bytes a manifest, a fifth to a half of it.
///
/// Source: `Protocol/message-dictionary.txt`, `Protocol/README.md` section 3.5.
enum MessageDictionary {
    static let bytes = Array(lines.joined().utf8)

    private static let lines = [
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
