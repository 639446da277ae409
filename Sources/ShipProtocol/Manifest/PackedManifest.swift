import CZlib

/// The payload of MANIFEST: the manifest's JSON, deflated. A small store pays for every byte of it.
///
///     0  1 byte  how: 0 stored, 1 deflate
///     1  rest    the JSON, or a raw deflate stream (RFC 1951) of it whose window begins as the dictionary
///
/// Source: `Protocol/README.md` section 3.5. Vectors: `manifest_*`.
enum PackedManifest {
    private static let stored: UInt8 = 0
    private static let deflated: UInt8 = 1

    /// Deflated, unless that is no shorter.
    ///
    /// - Throws: `.payloadTooLong` for a manifest that lists too much.
    static func packing(_ json: [UInt8]) throws(ProtocolError) -> [UInt8] {
        guard json.count <= Limits.manifestSize else { throw tooLong(json.count) }
        if let stream = deflate(json), stream.count < json.count { return [deflated] + stream }
        return [stored] + json
    }

    /// - Returns: The JSON, of at most `Limits.manifestSize` bytes.
    /// - Throws: `.badMessage` if it is packed in no known way, `.damaged` for a stream that is none or does not end with
    ///   the payload, `.payloadTooLong` as soon as it inflates to too much.
    static func unpacking(_ payload: ArraySlice<UInt8>) throws(ProtocolError) -> [UInt8] {
        let content = payload.dropFirst()
        switch payload.first {
        case stored: return Array(content)
        case deflated: return try inflate(content)
        default: throw .badMessage(type: FrameType.manifest.rawValue, flaw: "it is packed in no known way")
        }
    }

    private static func deflate(_ json: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        guard ship_deflate_init_raw(&stream) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        let dictionary = ManifestDictionary.bytes
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

    private static func inflate(_ input: ArraySlice<UInt8>) throws(ProtocolError) -> [UInt8] {
        let (result, output, unused) = inflated(input, limit: Limits.manifestSize)
        switch result {
        case Z_STREAM_END where unused == 0 && output.count <= Limits.manifestSize: return output
        case _ where output.count > Limits.manifestSize:
            throw tooLong(output.count)
        default: throw .damaged(.manifest)
        }
    }

    private static func tooLong(_ size: Int) -> ProtocolError {
        .payloadTooLong(
            type: FrameType.manifest.rawValue, length: UInt32(clamping: size), limit: Limits.manifestSize)
    }

    /// Inflates piece by piece, so that memory grows with what comes out and no further than one byte past the limit.
    private static func inflated(
        _ input: ArraySlice<UInt8>, limit: Int
    ) -> (result: Int32, output: [UInt8], unused: Int) {
        var stream = z_stream()
        guard ship_inflate_init_raw(&stream) == Z_OK else { return (Z_MEM_ERROR, [], 0) }
        defer { inflateEnd(&stream) }
        let dictionary = ManifestDictionary.bytes
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
