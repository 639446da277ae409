import CZlib
import ShipCompression
import ShipProtocol
import StoreFiles
import TestSupport
import Testing

@Suite struct `The decoder` {
    private static func block(_ form: Block.Form, _ encoded: [UInt8], size: Int) -> [UInt8] {
        Block(decodedSize: size, form: form, encoded: encoded).bytes
    }

    @Test(arguments: try ProtocolVector.all(.block))
    func `judges a block as its vector says`(vector: ProtocolVector) throws {
        let (offset, size) = try (#require(vector.number("next-offset")), #require(vector.number("part-size")))
        var decoder = BlockDecoder(
            size: Int64(size), from: Int64(offset), after: vector.bytes(labelled: "before") ?? [])
        var decoded: [UInt8]?
        var code: RefusalCode?
        do {
            decoded = try decoder.decode(vector.bytes, isLast: vector["last"] == "true")
        } catch let error as ProtocolError {
            code = error.code
        } catch is CompressionError {
            code = .damaged
        }
        #expect(code?.rawValue == vector.error)
        #expect(decoded?.count == vector.number("decoded-size"))
        #expect(decoded.map { "\(ContentDigest(hashing: $0))" } == vector["decoded-sha256"])
    }

    /// What 1 MiB of zeros deflates to, over and over: 1 MiB that would inflate to 1,000 MiB.
    @Test func `stops one byte past the declared size of a bomb`() throws {
        let bomb = try Self.bomb(mebibytes: 1000)
        #expect(bomb.count < Limits.blockSize + Limits.blockOverhead)
        for size in [1, 1000, Limits.blockSize] {
            var decoder = BlockDecoder(size: Int64(size))
            let start = ContinuousClock.now
            #expect(throws: CompressionError.damaged(.decodedSize)) {
                try decoder.decode(Self.block(.zlib, bomb, size: size), isLast: true)
            }
            // All of it would take a second and more.
            #expect(.now - start < .milliseconds(200))
        }
    }

    @Test(.enabled(if: MemoryUse.isMeaningful)) func `takes no memory for what a bomb would inflate to`() async {
        await #expect(processExitsWith: .success) {
            let bomb = try Self.bomb(mebibytes: 1000)
            let before = try MemoryUse.current
            for _ in 0..<20 {
                var decoder = BlockDecoder(size: Int64(Limits.blockSize))
                _ = try? decoder.decode(Self.block(.zlib, bomb, size: Limits.blockSize), isLast: true)
            }
            let grown = try MemoryUse.current - before
            #expect(grown < 16 * 1_048_576, "\(grown) bytes")
        }
    }

    /// Segments that end with a full flush can be put together in any number.
    private static func bomb(mebibytes: Int) throws -> [UInt8] {
        var stream = z_stream()
        try #require(Self.startDeflating(&stream) == Z_OK)
        defer { deflateEnd(&stream) }
        func segment() -> [UInt8] {
            let zeros = [UInt8](repeating: 0, count: 1_048_576)
            return [UInt8](unsafeUninitializedCapacity: 8192) { output, count in
                zeros.withUnsafeBufferPointer { zeros in
                    stream.next_in = UnsafeMutablePointer(mutating: zeros.baseAddress)
                    stream.avail_in = uInt(zeros.count)
                    stream.next_out = output.baseAddress
                    stream.avail_out = uInt(output.count)
                    _ = deflate(&stream, Z_FULL_FLUSH)
                    count = output.count - Int(stream.avail_out)
                }
            }
        }
        let first = segment()
        let others = repeatElement(segment(), count: mebibytes - 1)
        return first + Array(others.joined()) + [0x03, 0x00, 0, 0, 0, 0]
    }

    /// A bit may be one that means nothing, but it never makes other bytes.
    @Test(arguments: [Block.Form.zlib, .zlibWindow])
    func `never makes other bytes of a block with a bit turned over`(form: Block.Form) async throws {
        let part = Array("Tea, soup, pie; tea, soup and pie: the recipes of the house, 2026.".utf8)
        let window = Array("the recipes of the house: pie; soup and tea".utf8)
        let isWindowed = form == .zlibWindow
        let encoded = try Self.deflated(part, window: isWindowed ? window : [])
        func decode(_ bytes: [UInt8]) throws -> [UInt8] {
            var decoder = BlockDecoder(size: Int64(part.count + (isWindowed ? window.count : 0)))
            if isWindowed { _ = try decoder.decode(Self.block(.stored, window, size: window.count), isLast: false) }
            return try decoder.decode(Self.block(form, bytes, size: part.count), isLast: true)
        }
        #expect(try decode(encoded) == part)
        var harmless = 0
        for index in encoded.indices {
            for bit in 0..<8 {
                var bytes = encoded
                bytes[index] ^= 1 << bit
                guard let decoded = try? decode(bytes) else { continue }
                #expect(decoded == part, "bit \(bit) of byte \(index)")
                harmless += 1
            }
        }
        // Those that fill the last byte of the deflated data.
        #expect(harmless < 8)
    }

    /// `deflateInit` is a macro, which Swift does not import.
    private static func startDeflating(_ stream: inout z_stream) -> Int32 {
        deflateInit_(&stream, 9, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    }

    private static func deflated(_ bytes: [UInt8], window: [UInt8]) throws -> [UInt8] {
        var stream = z_stream()
        try #require(Self.startDeflating(&stream) == Z_OK)
        defer { deflateEnd(&stream) }
        if !window.isEmpty { try #require(deflateSetDictionary(&stream, window, uInt(window.count)) == Z_OK) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count + 100)
        let result = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = uInt(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(output.count)
                return deflate(&stream, Z_FINISH)
            }
        }
        try #require(result == Z_STREAM_END)
        return Array(output.prefix(Int(stream.total_out)))
    }
}
