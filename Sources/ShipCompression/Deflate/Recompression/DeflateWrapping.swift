import CZlib
import ShipProtocol

/// The bytes around the raw deflate stream of a value.
///
/// Source: `Protocol/DEFLATE.md` section 8.
package enum DeflateWrapping: Hashable, Sendable {
    case raw
    /// RFC 1950: the head follows from the parameters.
    case zlib
    /// RFC 1952: the head is kept as it is.
    case gzip(head: [UInt8])

    /// The wrapping with which a value begins.
    init(of value: ArraySlice<UInt8>) {
        if let head = Self.gzipHead(of: value) {
            self = .gzip(head: head)
        } else if Self.beginsWithZlibHead(value) {
            self = .zlib
        } else {
            self = .raw
        }
    }

    /// The bytes before the stream.
    func head(_ parameters: DeflateParameters) -> [UInt8] {
        switch self {
        case .raw: return []
        case .zlib:
            let first = 8 | (parameters.windowBits - 8) << 4
            let flags = Self.zlibLevels.firstIndex { $0.contains(parameters.level) } ?? 0
            let second = flags << 6
            return [UInt8(first), UInt8(second + 31 - (first << 8 + second) % 31)]
        case .gzip(let head): return head
        }
    }

    /// The bytes after it.
    func tail(_ content: [UInt8]) -> [UInt8] {
        switch self {
        case .raw: []
        case .zlib: Self.bytes(Self.adler32(of: content).byteSwapped)
        case .gzip: Self.bytes(UInt32(crc32Of: content)) + Self.bytes(UInt32(truncatingIfNeeded: content.count))
        }
    }

    var headSize: Int {
        switch self {
        case .raw: 0
        case .zlib: 2
        case .gzip(let head): head.count
        }
    }

    var tailSize: Int {
        switch self {
        case .raw: 0
        case .zlib: 4
        case .gzip: 8
        }
    }

    // MARK: zlib

    /// The levels that each of the four values of FLEVEL stands for, the likeliest first.
    static let zlibLevels = [[1], [5, 2, 3, 4], [6], [9, 7, 8]]

    /// Whether the head asks for deflate and no preset dictionary, and is a multiple of 31.
    private static func beginsWithZlibHead(_ value: ArraySlice<UInt8>) -> Bool {
        guard value.count > 2 else { return false }
        let (first, second) = (value[value.startIndex], value[value.startIndex + 1])
        return first & 0xf == 8 && first >> 4 <= 7 && second & 0x20 == 0 && (Int(first) << 8 + Int(second)) % 31 == 0
    }

    private static func adler32(of content: [UInt8]) -> UInt32 {
        content.withUnsafeBufferPointer { UInt32(truncatingIfNeeded: adler32_z(1, $0.baseAddress, $0.count)) }
    }

    // MARK: gzip

    /// The bytes before the stream; `nil` if it is no gzip stream.
    private static func gzipHead(of value: ArraySlice<UInt8>) -> [UInt8]? {
        guard value.first == 0x1f else { return nil }
        let fixed = Array(value.prefix(10))
        guard fixed.count == 10, fixed[0] == 0x1f, fixed[1] == 0x8b, fixed[2] == 8, fixed[3] & 0xe0 == 0 else {
            return nil
        }
        let flags = fixed[3]
        var rest = value.dropFirst(10)
        if flags & 4 != 0 {
            let size = rest.prefix(2).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(2 + size)
        }
        for flag in [8, 16] as [UInt8] where flags & flag != 0 {
            guard let end = rest.firstIndex(of: 0) else { return nil }
            rest = rest[(end + 1)...]
        }
        if flags & 2 != 0 { rest = rest.dropFirst(2) }
        return Array(value[..<rest.startIndex])
    }

    /// The lowest byte first.
    private static func bytes(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
