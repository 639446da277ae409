import CZlib

/// A raw deflate stream (RFC 1951) whose window holds a dictionary before the first byte.
package enum PresetDeflate {
    package enum Flaw: Error {
        /// It inflates to more than the limit.
        case tooLong
        /// It is no stream, does not end, or ends before its last byte.
        case damaged
    }

    /// - Parameters:
    ///   - room: Most bytes that the stream may have; `nil` for as many as are deflated.
    /// - Returns: `nil` if it would be longer.
    package static func deflate(_ bytes: [UInt8], after dictionary: [UInt8], within room: Int? = nil) -> [UInt8]? {
        var stream = z_stream()
        guard ship_deflate_init_raw(&stream, Z_BEST_COMPRESSION) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        guard deflateSetDictionary(&stream, dictionary, uInt(dictionary.count)) == Z_OK else { return nil }
        var isWhole = false
        let output = [UInt8](unsafeUninitializedCapacity: room ?? bytes.count) { output, count in
            bytes.withUnsafeBufferPointer { bytes in
                stream.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
                stream.avail_in = uInt(bytes.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(output.count)
                isWhole = CZlib.deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = output.count - Int(stream.avail_out)
            }
        }
        return isWhole ? output : nil
    }

    /// - Parameter limit: Most bytes that it may inflate to.
    static func inflate(_ input: ArraySlice<UInt8>, after dictionary: [UInt8], limit: Int) -> Result<[UInt8], Flaw> {
        inflateFirst(input, after: dictionary, limit: limit).flatMap {
            $0.rest.isEmpty ? .success($0.bytes) : .failure(.damaged)
        }
    }

    /// The same, and what is behind the stream.
    package static func inflateFirst(
        _ input: ArraySlice<UInt8>, after dictionary: [UInt8], limit: Int
    ) -> Result<(bytes: [UInt8], rest: ArraySlice<UInt8>), Flaw> {
        let (result, output, unused) = inflated(input, after: dictionary, limit: limit)
        guard output.count <= limit else { return .failure(.tooLong) }
        return result == Z_STREAM_END ? .success((output, input.suffix(unused))) : .failure(.damaged)
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
                // A full piece is no end; an empty input is.
            } while result == Z_OK && stream.avail_out == 0 && output.count <= limit
            return result
        }
        return (result, output, Int(stream.avail_in))
    }
}
