import CZlib

/// The bytes behind one zlib stream (RFC 1950), which nobody vouches for.
enum Inflate {
    /// - Parameters:
    ///   - stream: Must be used to its last byte.
    ///   - window: The preset dictionary that the stream must ask for; empty if it must not ask.
    ///   - size: Bytes to come out, exactly. Inflation stops one byte after.
    static func bytes(
        of input: [UInt8], window: ArraySlice<UInt8>, size: Int
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
                stream.avail_out = uInt(size + 1)
                let result = run(&stream, window)
                count = size + 1 - Int(stream.avail_out)
                flaw = judge(result, count: count, size: size, unused: Int(stream.avail_in))
            }
        }
        if let flaw { throw flaw }
        return output
    }

    private enum Result: Hashable {
        case zlib(Int32)
        case dictionaryMismatch
    }

    private static func run(_ stream: inout z_stream, _ window: ArraySlice<UInt8>) -> Result {
        let result = inflate(&stream, Z_FINISH)
        guard result == Z_NEED_DICT else {
            return window.isEmpty || result == Z_MEM_ERROR || result == Z_DATA_ERROR
                ? .zlib(result) : .dictionaryMismatch
        }
        let isSet = window.withUnsafeBufferPointer { window in
            !window.isEmpty && inflateSetDictionary(&stream, window.baseAddress, uInt(window.count)) == Z_OK
        }
        return isSet ? .zlib(inflate(&stream, Z_FINISH)) : .dictionaryMismatch
    }

    private static func judge(_ result: Result, count: Int, size: Int, unused: Int) -> CompressionError? {
        switch result {
        case .dictionaryMismatch: .damaged(.dictionary)
        case .zlib(Z_MEM_ERROR): .outOfMemory
        case .zlib(Z_STREAM_END) where count != size: .damaged(.decodedSize)
        case .zlib(Z_STREAM_END): unused == 0 ? nil : .damaged(.trailingBytes)
        case .zlib(Z_BUF_ERROR), .zlib(Z_OK): .damaged(.decodedSize)
        case .zlib: .damaged(.notZlib)
        }
    }
}
