import CZlib
import TestSupport
import Testing

@testable import ShipCompression

/// What zlib itself makes, and of what.
enum ZlibStreams {
    /// A stream of zlib, with the wrapping that it makes itself.
    static func stream(of content: [UInt8], _ parameters: DeflateParameters, wrapping: Wrapping = .raw) throws
        -> [UInt8]
    {
        var stream = z_stream()
        let bits = Int32(parameters.windowBits)
        let result = deflateInit2_(
            &stream, Int32(parameters.level), Z_DEFLATED,
            wrapping == .raw ? -bits : wrapping == .gzip ? bits + 16 : bits,
            Int32(parameters.memoryLevel), Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        try #require(result == Z_OK)
        defer { deflateEnd(&stream) }
        let capacity = content.count * 2 + 1024
        var isWhole = false
        let output = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            content.withUnsafeBufferPointer { content in
                stream.next_in = UnsafeMutablePointer(mutating: content.baseAddress)
                stream.avail_in = uInt(content.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(capacity)
                isWhole = deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = capacity - Int(stream.avail_out)
            }
        }
        try #require(isWhole)
        return output
    }

    enum Wrapping: CaseIterable {
        case raw, zlib, gzip
    }

    static func parameters(_ level: Int, _ memoryLevel: Int = 8, _ windowBits: Int = 15) throws -> DeflateParameters {
        try #require(DeflateParameters(level: level, memoryLevel: memoryLevel, windowBits: windowBits))
    }

    enum Content: CaseIterable {
        case noise, text, period, zeros, copies, skewed

        func bytes(_ count: Int, _ dice: inout RepeatableRandom) -> [UInt8] {
            var bytes: [UInt8] = []
            let period = (0..<Int.random(in: 1...600, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice)
            }
            while bytes.count < count {
                switch self {
                case .noise: bytes.append(UInt8.random(in: 0...255, using: &dice))
                case .text:
                    let word = min(Int.random(in: 0..<400, using: &dice), Int.random(in: 0..<400, using: &dice))
                    bytes += Array((String(word * word * 7919, radix: 36) + " ").utf8)
                case .period:
                    bytes += period
                    if Bool.random(using: &dice) { bytes.append(UInt8.random(in: 0...255, using: &dice)) }
                case .zeros: bytes += [UInt8](repeating: 0, count: count)
                case .copies:
                    guard bytes.count > 100, Int.random(in: 0..<3, using: &dice) > 0 else {
                        bytes.append(Self.skewed(&dice))
                        continue
                    }
                    let distance = Int.random(in: 1...min(bytes.count, 40_000), using: &dice)
                    for _ in 0..<Int.random(in: 2...(Bool.random(using: &dice) ? 5 : 300), using: &dice) {
                        bytes.append(bytes[bytes.count - distance])
                    }
                case .skewed: bytes.append(Self.skewed(&dice))
                }
            }
            return Array(bytes.prefix(count))
        }

        /// Each byte is half as frequent as the one before, so that codes get too long.
        private static func skewed(_ dice: inout RepeatableRandom) -> UInt8 {
            UInt8(UInt64.random(in: 1...UInt64.max, using: &dice).leadingZeroBitCount)
        }
    }
}
