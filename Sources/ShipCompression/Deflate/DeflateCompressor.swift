#if Libdeflate
    import CDeflate

    /// What deflates whole runs of bytes: libdeflate. It takes a third of zlib's time and makes fewer bytes of them, because it
    /// parses ahead and ends its blocks where the bytes change; it knows no preset dictionary.
    struct DeflateCompressor: ~Copyable {
        private let compressor: OpaquePointer
        private let format: DeflateFraming

        /// - Parameter level: Of libdeflate, 0-12.
        init(_ format: DeflateFraming, level: Int32) throws(CompressionError) {
            guard let compressor = libdeflate_alloc_compressor(level) else { throw .outOfMemory }
            (self.compressor, self.format) = (compressor, format)
        }

        deinit { libdeflate_free_compressor(compressor) }

        /// - Returns: How many bytes the stream has; 0 if they do not fit.
        func deflate(_ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> Int {
            switch format {
            case .raw:
                libdeflate_deflate_compress(
                    compressor, input.baseAddress, input.count, output.baseAddress, output.count)
            case .zlib:
                libdeflate_zlib_compress(compressor, input.baseAddress, input.count, output.baseAddress, output.count)
            }
        }
    }
#else
    import CZlib

    /// What deflates whole runs of bytes: zlib, which is on every system.
    struct DeflateCompressor: ~Copyable {
        /// zlib keeps its address.
        private let stream: UnsafeMutablePointer<z_stream>

        /// - Parameter level: Of libdeflate, 0-12; zlib goes up to 9.
        init(_ format: DeflateFraming, level: Int32) throws(CompressionError) {
            stream = .allocate(capacity: 1)
            stream.initialize(to: z_stream())
            let level = min(level, Z_BEST_COMPRESSION)
            let result =
                switch format {
                case .raw: ship_deflate_init_raw(stream, level)
                case .zlib: ship_deflate_init(stream, level)
                }
            guard result == Z_OK else {
                stream.deallocate()
                throw .outOfMemory
            }
        }

        deinit {
            deflateEnd(stream)
            stream.deallocate()
        }

        /// - Returns: How many bytes the stream has; 0 if they do not fit.
        func deflate(_ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> Int {
            guard let size = uInt(exactly: input.count), let room = uInt(exactly: output.count),
                deflateReset(stream) == Z_OK
            else { return 0 }
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = size
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = room
            guard CZlib.deflate(stream, Z_FINISH) == Z_STREAM_END else { return 0 }
            return output.count - Int(stream.pointee.avail_out)
        }
    }
#endif

/// How a compressor frames what it deflates.
enum DeflateFraming: Hashable {
    /// Not at all (RFC 1951).
    case raw
    /// Two bytes before it, and a checksum behind it (RFC 1950).
    case zlib
}
