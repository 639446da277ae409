/// Whether a property list is one that Foundation's parser, which follows collections into collections, can be given:
/// not too long, not nested too deeply, and not one in which few bytes stand for many values.
///
/// Source: the comment at the head of CFBinaryPList.c (github.com/swiftlang/swift-corelibs-foundation).
package enum PropertyListShape {
    /// Longest property list, in bytes. Core Data writes a few kilobytes.
    package static let mostBytes = 4 * 1024 * 1024
    /// Collections in collections. Core Data needs three.
    package static let deepest = 16
    /// Values that are reached from the top one, each time that they are.
    static let mostVisits = 200_000

    private static let trailerSize = 32
    private static let binaryMagic = Array("bplist0".utf8)

    package static func isModest(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= mostBytes else { return false }
        if bytes.starts(with: binaryMagic) {
            guard var walk = BinaryWalk(bytes) else { return false }
            return walk.isModest
        }
        return isModestXML(bytes)
    }

    /// XML in UTF-8 only, by its tags: what opens more than it closes is deep.
    private static func isModestXML(_ bytes: [UInt8]) -> Bool {
        guard bytes.first == UInt8(ascii: "<") else { return false }
        var (depth, index) = (0, 0)
        while index < bytes.count {
            defer { index += 1 }
            guard bytes[index] == UInt8(ascii: "<"), index + 1 < bytes.count else { continue }
            switch bytes[index + 1] {
            case UInt8(ascii: "/"): depth -= 1
            case UInt8(ascii: "?"), UInt8(ascii: "!"): break
            default:
                guard let end = bytes[index...].firstIndex(of: UInt8(ascii: ">")) else { return false }
                if bytes[end - 1] != UInt8(ascii: "/") { depth += 1 }
                index = end
            }
            guard depth <= deepest else { return false }
        }
        return true
    }

    /// Follows the collections of a binary property list as its parser will.
    private struct BinaryWalk {
        private let bytes: [UInt8]
        private let offsetSize: Int
        private let referenceSize: Int
        private let objectCount: Int
        private let top: Int
        private let table: Int
        private var visits = 0

        init?(_ bytes: [UInt8]) {
            let trailer = bytes.count - trailerSize
            guard trailer >= 8 else { return nil }
            func word(_ offset: Int) -> Int? {
                Int(exactly: bytes[offset..<(offset + 8)].reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
            }
            guard let objectCount = word(trailer + 8), let top = word(trailer + 16), let table = word(trailer + 24),
                (1...8).contains(bytes[trailer + 6]), (1...8).contains(bytes[trailer + 7]),
                objectCount <= bytes.count, table <= trailer
            else { return nil }
            self.bytes = bytes
            offsetSize = Int(bytes[trailer + 6])
            referenceSize = Int(bytes[trailer + 7])
            self.objectCount = objectCount
            self.top = top
            self.table = table
        }

        var isModest: Bool {
            mutating get { isModest(top, depth: 0) }
        }

        private mutating func isModest(_ object: Int, depth: Int) -> Bool {
            visits += 1
            guard depth <= deepest, visits <= mostVisits, object < objectCount,
                let offset = integer(at: table + object * offsetSize, offsetSize), offset < table
            else { return false }
            let kind = bytes[offset] >> 4
            // An array, a set, or a dictionary, which has as many keys as values.
            guard [0xA, 0xB, 0xC, 0xD].contains(kind) else { return true }
            guard let (count, start) = length(at: offset), count <= bytes.count else { return false }
            for place in 0..<(kind == 0xD ? 2 * count : count) {
                guard let reference = integer(at: start + place * referenceSize, referenceSize),
                    isModest(reference, depth: depth + 1)
                else { return false }
            }
            return true
        }

        /// How many there are in a collection, and where its references begin.
        private func length(at offset: Int) -> (count: Int, start: Int)? {
            let short = Int(bytes[offset] & 15)
            guard short == 15 else { return (short, offset + 1) }
            guard offset + 1 < bytes.count, bytes[offset + 1] >> 4 == 1 else { return nil }
            let size = 1 << Int(bytes[offset + 1] & 15)
            guard size <= 8, let count = integer(at: offset + 2, size) else { return nil }
            return (count, offset + 2 + size)
        }

        private func integer(at offset: Int, _ size: Int) -> Int? {
            guard offset >= 0, offset <= bytes.count - size else { return nil }
            return Int(exactly: bytes[offset..<(offset + size)].reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
        }
    }
}
