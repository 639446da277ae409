import CZlib

extension ValueKind {
    /// Streams of deflate, of all levels, strategies and windows, and what holds them.
    static let streams = [
        ValueKind("deflate", "BLOB") { choices in
            let way = Deflating(choices, windowBits: choices.chance(60) ? -15 : -choices.number(in: 9...15))
            let head = choices.chance(40) ? [UInt8(choices.below(256))] : []
            return { choices, place in .blob(head + way.stream(of: content(choices, place))) }
        },
        ValueKind("zlib", "BLOB") { choices in
            let way = Deflating(choices, windowBits: choices.chance(70) ? 15 : choices.number(in: 9...15))
            return { choices, place in .blob(way.stream(of: content(choices, place))) }
        },
        ValueKind("gzip", "BLOB") { choices in
            let way = Deflating(choices, windowBits: 16 + choices.number(in: 9...15))
            return { choices, place in .blob(way.stream(of: content(choices, place))) }
        },
        ValueKind("streams of any way", "BLOB") { _ in
            { choices, place in
                let way = Deflating(choices, windowBits: choices.pick([-15, -9, 15, 10, 31, 25]))
                return .blob(way.stream(of: content(choices, place)))
            }
        },
        ValueKind("several members", "BLOB") { choices in
            let ways = (0...2).map { _ in Deflating(choices, windowBits: choices.pick([31, 15, -15])) }
            return { choices, place in
                .blob((0...choices.below(3)).flatMap { ways[$0 % 3].stream(of: content(choices, place)) })
            }
        },
        ValueKind("cut or wrong stream", "BLOB") { choices in
            let way = Deflating(choices, windowBits: choices.pick([31, 15, -15]))
            return { choices, place in
                var stream = way.stream(of: content(choices, place))
                if choices.chance(60) {
                    stream.removeLast(choices.below(stream.count))
                } else {
                    stream[choices.below(stream.count)] ^= UInt8(1 << choices.below(8))
                }
                return .blob(stream)
            }
        },
        ValueKind("lists within streams within lists", "BLOB") { choices in
            let (outer, inner) = (Deflating(choices, windowBits: -15), Deflating(choices, windowBits: 15))
            let keys = (0...choices.below(4)).map { _ in choices.word() }
            return { choices, place in
                let deepest = inner.stream(of: list(choices, keys, place.isEdited))
                let middle = PropertyListBytes.of(
                    .dictionary([.init("data", .data(deepest)), .init("name", .text(choices.word()))]))
                return .blob(outer.stream(of: middle))
            }
        },
        ValueKind("PNG", "BLOB") { choices in
            let way = Deflating(choices, windowBits: 15)
            return { choices, place in
                func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
                    let body = Array(type.utf8) + data
                    let sum = body.withUnsafeBufferPointer {
                        UInt32(truncatingIfNeeded: crc32(0, $0.baseAddress, uInt($0.count)))
                    }
                    return bigEndian(UInt32(data.count)) + body + bigEndian(sum)
                }
                let (width, height) = (choices.number(in: 1...40), choices.number(in: 1...40))
                let pixels = (0..<height).flatMap { _ in
                    [UInt8(0)] + choices.bytes(1) + (1..<3 * width).map { UInt8(truncatingIfNeeded: $0) }
                }
                let head = bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [8, 2, 0, 0, 0]
                return .blob(
                    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", head)
                        + chunk("IDAT", way.stream(of: pixels)) + chunk("IEND", []))
            }
        },
    ]

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    /// What a stream may be of.
    static func content(_ choices: Choices, _ place: Place) -> [UInt8] {
        switch choices.below(6) {
        case 0: list(choices, ["name", "kind", "items", "more"], place.isEdited)
        case 1: choices.bytes(choices.length(upTo: 300)) + (place.isEdited ? [1] : [])
        case 2:
            [UInt8](repeating: UInt8(choices.below(256)), count: choices.length(upTo: 5000))
                + (place.isEdited ? [1] : [])
        case 3:
            (0..<choices.below(60)).flatMap { Array("row \($0 * 7_919 % 97), \(choices.word())\n".utf8) }
                + (place.isEdited ? [1] : [])
        default: Array(choices.sentence(choices.length(upTo: 400), isEdited: place.isEdited).utf8)
        }
    }
}

/// A way in which zlib deflates.
private struct Deflating {
    let level: Int32
    let windowBits: Int32
    let memoryLevel: Int32
    let strategy: Int32

    /// - Parameter windowBits: Negative for a raw stream, 16 more for gzip, as zlib has it.
    init(_ choices: Choices, windowBits: Int) {
        level = Int32(choices.chance(50) ? choices.pick([5, 6, 9]) : choices.below(10))
        // A raw stream of a window of 256 bytes is one that zlib does not make.
        self.windowBits = Int32(windowBits)
        memoryLevel = choices.chance(60) ? 8 : Int32(choices.number(in: 1...9))
        strategy = choices.chance(80) ? Z_DEFAULT_STRATEGY : choices.pick([Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED])
    }

    /// - Returns: Nothing if zlib cannot, which it can.
    func stream(of content: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        guard
            deflateInit2_(
                &stream, level, Z_DEFLATED, windowBits, memoryLevel, strategy, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return [0] }
        defer { deflateEnd(&stream) }
        let capacity = content.count * 2 + 1024
        return [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            content.withUnsafeBufferPointer { content in
                stream.next_in = UnsafeMutablePointer(mutating: content.baseAddress)
                stream.avail_in = uInt(content.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(capacity)
                _ = deflate(&stream, Z_FINISH)
                count = capacity - Int(stream.avail_out)
            }
        }
    }
}
