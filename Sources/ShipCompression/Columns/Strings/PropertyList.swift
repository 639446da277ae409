/// Binary property lists without what follows from their objects: the offset table, the trailer, and where references
/// go to the next object.
///
/// Taken apart are those that `CFPropertyListCreateData` and NSKeyedArchiver write: the objects stand in the order of
/// their numbers without gaps, the first is the top, and the offsets are as narrow as they can be. The marker `bplist00`
/// goes too. Each reference becomes its step from the reference before it in the same object, the first from the object's own
/// number, less 1: 0 where the objects follow one another.
/// Source: CFBinaryPList.c.
enum PropertyList {
    private static let marker = Array("bplist00".utf8)
    private static let trailerSize = 32
    /// Bytes of all objects of a list that is taken apart.
    static let longest = 1_048_576

    /// - Returns: The objects, and the size of a reference; `nil` if they do not give the same list again.
    static func objects(of list: ArraySlice<UInt8>) -> (bytes: [UInt8], referenceSize: Int)? {
        guard list.count > marker.count + trailerSize, list.starts(with: marker) else { return nil }
        let referenceSize = Int(list[list.endIndex - 25])
        let tableStart = list.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard referenceSize == 1 || referenceSize == 2, tableStart < UInt64(list.count - trailerSize),
            tableStart > UInt64(marker.count), tableStart <= UInt64(longest + marker.count)
        else { return nil }
        var objects = Array(list.dropFirst(marker.count).prefix(Int(tableStart) - marker.count))
        let size = list.count
        guard let offsets = rewriteReferences(in: &objects, size: referenceSize, .relative),
            size == Int(tableStart) + offsets.count * offsetSize(Int(tableStart)) + trailerSize,
            tail(objects.count, offsets, referenceSize: referenceSize)[...] == list.dropFirst(Int(tableStart))
        else { return nil }
        return (objects, referenceSize)
    }

    /// - Returns: `nil` if `objects` are not whole.
    static func list(of objects: ArraySlice<UInt8>, referenceSize: Int) -> [UInt8]? {
        var bytes = Array(objects)
        guard let offsets = rewriteReferences(in: &bytes, size: referenceSize, .absolute) else { return nil }
        return marker + bytes + tail(bytes.count, offsets, referenceSize: referenceSize)
    }

    private static func offsetSize(_ tableStart: Int) -> Int {
        tableStart < 0x100 ? 1 : tableStart < 0x1_0000 ? 2 : 4
    }

    /// The offset table and the trailer.
    private static func tail(_ size: Int, _ offsets: [Int], referenceSize: Int) -> [UInt8] {
        let tableStart = size + marker.count
        let width = offsetSize(tableStart)
        let count = offsets.count * width + trailerSize
        return [UInt8](unsafeUninitializedCapacity: count) { tail, filled in
            func append(_ value: Int, _ width: Int) {
                var shift = width &* 8
                while shift > 0 {
                    shift &-= 8
                    tail.initializeElement(at: filled, to: UInt8(truncatingIfNeeded: value &>> shift))
                    filled &+= 1
                }
            }
            for offset in offsets { append(offset + marker.count, width) }
            append(0, 6)
            append(width, 1)
            append(referenceSize, 1)
            append(offsets.count, 8)
            append(0, 8)
            append(tableStart, 8)
        }
    }

    private enum Direction {
        case relative
        case absolute
    }

    /// - Returns: Where each object begins; `nil` if they do not end with the bytes.
    private static func rewriteReferences(
        in bytes: inout [UInt8], size: Int, _ direction: Direction
    ) -> [Int]? {
        bytes.withUnsafeMutableBufferPointer { rewriteReferences(in: $0, size: size, direction) }
    }

    private static func rewriteReferences(
        in bytes: UnsafeMutableBufferPointer<UInt8>, size: Int, _ direction: Direction
    ) -> [Int]? {
        var offsets: [Int] = []
        offsets.reserveCapacity(bytes.count / 8)
        var place = 0
        let mask = size == 1 ? 0xff : 0xffff
        while place < bytes.count {
            var previous = offsets.count
            offsets.append(place)
            guard let body = Body(UnsafeBufferPointer(bytes), at: place) else { return nil }
            place = body.start
            guard body.references <= (bytes.count - place) / size, body.size <= bytes.count - place else { return nil }
            for _ in 0..<body.references {
                let given = size == 1 ? Int(bytes[place]) : Int(bytes[place]) << 8 | Int(bytes[place + 1])
                let written: Int
                switch direction {
                case .relative:
                    written = (given - previous - 1) & mask
                    previous = given
                case .absolute:
                    written = (given + previous + 1) & mask
                    previous = written
                }
                if size == 2 { bytes[place] = UInt8(truncatingIfNeeded: written >> 8) }
                bytes[place + size - 1] = UInt8(truncatingIfNeeded: written)
                place += size
            }
            place += body.size
        }
        return offsets
    }

    /// What follows the marker of an object and its count.
    private struct Body {
        let start: Int
        private(set) var references = 0
        private(set) var size = 0

        /// - Returns: `nil` for an object of no known type, or a count beyond the bytes.
        @inline(__always)
        init?(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int) {
            let type = bytes[place] >> 4
            var count = Int(bytes[place] & 0xf)
            var next = place + 1
            if count == 0xf, type == 4 || type == 5 || type == 6 || type == 0xa || type == 0xc || type == 0xd {
                guard next < bytes.count, bytes[next] >> 4 == 1, bytes[next] & 0xf <= 2 else { return nil }
                let width = 1 << Int(bytes[next] & 0xf)
                guard bytes.count - next > width else { return nil }
                count = bytes[(next + 1)..<(next + 1 + width)].reduce(0) { $0 << 8 | Int($1) }
                next += 1 + width
            }
            start = next
            switch type {
            case 0: break
            case 1, 2:
                guard count <= 4 else { return nil }
                size = 1 << count
            case 3: size = 8
            case 4, 5: size = count
            case 6: size = count * 2
            case 8: size = count + 1
            case 0xa, 0xc: references = count
            case 0xd: references = count * 2
            default: return nil
            }
        }
    }
}
