import CZlib
import ShipProtocol

#if Libdeflate
    import CDeflate
#endif

/// A deflate compressor (RFC 1951) for intact runs of bytes; its static members work on one run each, in both directions.
///
/// With the trait `Libdeflate` the compressor is libdeflate, otherwise zlib, which is on every system. libdeflate takes a third of zlib's
/// time and makes fewer bytes, because it parses ahead and ends its blocks where the bytes change. It knows no preset dictionary and does
/// not inflate a stream of unknown size: zlib does both.
package struct Deflate: ~Copyable {
    #if Libdeflate
        private let compressor: OpaquePointer
        private let isRaw: Bool
    #else
        /// On the heap, because zlib keeps its address.
        private let stream: UnsafeMutablePointer<z_stream>
    #endif

    /// Makes raw streams (RFC 1951), at a level of libdeflate: 0 to 12, and to 9 with zlib.
    package init(raw level: Int32) throws(CompressionError) { try self.init(level, isRaw: true) }

    /// Makes zlib streams (RFC 1950): two bytes before a raw stream, and a checksum behind it.
    package init(zlib level: Int32) throws(CompressionError) { try self.init(level, isRaw: false) }

    private init(_ level: Int32, isRaw: Bool) throws(CompressionError) {
        #if Libdeflate
            guard let compressor = libdeflate_alloc_compressor(level) else { throw .outOfMemory }
            (self.compressor, self.isRaw) = (compressor, isRaw)
        #else
            let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
            stream.initialize(to: z_stream())
            let level = min(level, Z_BEST_COMPRESSION)
            guard (isRaw ? ship_deflate_init_raw(stream, level) : ship_deflate_init(stream, level)) == Z_OK else {
                stream.deallocate()
                throw .outOfMemory
            }
            self.stream = stream
        #endif
    }

    deinit {
        #if Libdeflate
            libdeflate_free_compressor(compressor)
        #else
            deflateEnd(stream)
            stream.deallocate()
        #endif
    }

    /// - Returns: How many bytes the stream has; 0 if they do not fit.
    package func compress(_ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> Int {
        #if Libdeflate
            if isRaw {
                libdeflate_deflate_compress(
                    compressor, input.baseAddress, input.count, output.baseAddress, output.count)
            } else {
                libdeflate_zlib_compress(compressor, input.baseAddress, input.count, output.baseAddress, output.count)
            }
        #else
            guard let size = uInt(exactly: input.count), let room = uInt(exactly: output.count),
                deflateReset(stream) == Z_OK
            else { return 0 }
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = size
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = room
            guard deflate(stream, Z_FINISH) == Z_STREAM_END else { return 0 }
            return output.count - Int(stream.pointee.avail_out)
        #endif
    }

    // MARK: One run of bytes

    /// One zlib stream (RFC 1950).
    ///
    /// - Parameter input: Non-empty.
    /// - Returns: `nil` if the stream would not be shorter than the input, and at the level `.stored`.
    package static func zlib(of input: [UInt8], level: CompressionLevel) throws(CompressionError) -> [UInt8]? {
        guard level != .stored else { return nil }
        return compressed(input, by: try Deflate(zlib: level.value), atMost: input.count - 1)
    }

    /// One raw deflate stream (RFC 1951).
    ///
    /// - Parameter level: Of libdeflate, 1-12.
    /// - Returns: `nil` if the stream would be longer than the input.
    package static func raw(of input: [UInt8], level: Int32) throws(CompressionError) -> [UInt8]? {
        compressed(input, by: try Deflate(raw: level), atMost: input.count)
    }

    /// A raw deflate stream of bytes that none makes shorter.
    package static func stored(_ input: [UInt8]) -> [UInt8] { DeflateWriter.stored(input) }

    private static func compressed(_ input: [UInt8], by compressor: borrowing Deflate, atMost size: Int) -> [UInt8]? {
        let output = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            count = input.withUnsafeBufferPointer { compressor.compress($0, into: output) }
        }
        return output.isEmpty ? nil : output
    }

    /// One raw deflate stream whose matches may reach into bytes before it, which both sides have.
    ///
    /// - Parameter preset: What stands before the stream; only its last `DeflateFormat.window` bytes count.
    /// - Returns: `nil` if the stream would not be shorter than the input.
    package static func raw(of input: [UInt8], after preset: [UInt8]) -> [UInt8]? {
        PresetDeflate.deflate(input, after: Array(preset.suffix(DeflateFormat.window)))
    }

    /// The size of a run of bytes as the data of one block, in bytes.
    package static func encodedSize(
        of bytes: [UInt8], level: CompressionLevel = .standard
    ) throws(CompressionError) -> Int {
        guard !bytes.isEmpty else { return 0 }
        return try zlib(of: bytes, level: level)?.count ?? bytes.count
    }

    // MARK: And back

    /// The bytes behind one untrusted zlib stream (RFC 1950).
    ///
    /// - Parameters:
    ///   - input: Must be used to its last byte.
    ///   - window: The preset dictionary that the stream must ask for; empty if it must not ask.
    ///   - size: Bytes to come out, exactly. Inflation stops one byte after.
    static func bytes(
        ofZlib input: [UInt8], window: ArraySlice<UInt8> = [], size: Int
    ) throws(CompressionError) -> [UInt8] {
        var stream = z_stream()
        guard ship_inflate_init(&stream) == Z_OK else { throw .outOfMemory }
        defer { inflateEnd(&stream) }
        var flaw: CompressionError?
        let output = [UInt8](unsafeUninitializedCapacity: size + 1) { output, count in
            input.withUnsafeBufferPointer { input in
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = uInt(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(output.count)
                let result = inflate(&stream, window)
                count = size + 1 - Int(stream.avail_out)
                flaw =
                    switch result {
                    case nil: .damaged(.dictionary)
                    case Z_MEM_ERROR: .outOfMemory
                    case Z_STREAM_END where count != size: .damaged(.decodedSize)
                    case Z_STREAM_END: stream.avail_in == 0 ? nil : .damaged(.trailingBytes)
                    case Z_BUF_ERROR, Z_OK: .damaged(.decodedSize)
                    default: .damaged(.notZlib)
                    }
            }
        }
        if let flaw { throw flaw }
        return output
    }

    /// - Returns: zlib's result; `nil` if the stream asks for another preset dictionary than `window`, or for none.
    private static func inflate(_ stream: inout z_stream, _ window: ArraySlice<UInt8>) -> Int32? {
        let result = CZlib.inflate(&stream, Z_FINISH)
        guard result == Z_NEED_DICT else {
            return window.isEmpty || result == Z_MEM_ERROR || result == Z_DATA_ERROR ? result : nil
        }
        let isSet = window.withUnsafeBufferPointer { window in
            !window.isEmpty && inflateSetDictionary(&stream, window.baseAddress, uInt(window.count)) == Z_OK
        }
        return isSet ? CZlib.inflate(&stream, Z_FINISH) : nil
    }

    /// The bytes behind one untrusted raw deflate stream.
    ///
    /// - Parameters:
    ///   - input: Must be used to its last byte.
    ///   - size: Bytes to come out, exactly.
    package static func bytes(ofRaw input: ArraySlice<UInt8>, size: Int) throws(CompressionError) -> [UInt8] {
        #if Libdeflate
            guard let decompressor = libdeflate_alloc_decompressor() else { throw .outOfMemory }
            defer { libdeflate_free_decompressor(decompressor) }
            var used = 0
            var result = LIBDEFLATE_BAD_DATA
            let output = [UInt8](unsafeUninitializedCapacity: size) { output, count in
                input.withUnsafeBufferPointer { input in
                    var made = 0
                    result = libdeflate_deflate_decompress_ex(
                        decompressor, input.baseAddress, input.count, output.baseAddress, size, &used, &made)
                    count = result == LIBDEFLATE_SUCCESS ? made : 0
                }
            }
            guard result == LIBDEFLATE_SUCCESS, output.count == size else {
                throw .damaged(result == LIBDEFLATE_BAD_DATA ? .segment : .decodedSize)
            }
            guard used == input.count else { throw .damaged(.trailingBytes) }
            return output
        #else
            return try bytes(ofRaw: input, after: [], size: size)
        #endif
    }

    /// The bytes behind one untrusted raw deflate stream whose matches may reach into `preset`.
    ///
    /// - Parameters:
    ///   - input: Must be used to its last byte.
    ///   - size: Bytes to come out, exactly.
    package static func bytes(
        ofRaw input: ArraySlice<UInt8>, after preset: [UInt8], size: Int
    ) throws(CompressionError) -> [UInt8] {
        switch PresetDeflate.inflateFirst(input, after: Array(preset.suffix(DeflateFormat.window)), limit: size) {
        case .failure(.tooLong): throw .damaged(.decodedSize)
        case .failure(.damaged): throw .damaged(.segment)
        case .success(let (output, rest)):
            guard output.count == size else { throw .damaged(.decodedSize) }
            guard rest.isEmpty else { throw .damaged(.trailingBytes) }
            return output
        }
    }
}
