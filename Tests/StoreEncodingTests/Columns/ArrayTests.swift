import RandomValues
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Blobs that hold arrays of numbers, through a segment and back.
@Suite struct ArrayTests {
    /// Blobs of one kind, made from a seed.
    struct Maker: CustomTestStringConvertible, Sendable {
        let name: String
        /// By how much less they take than deflated as they are, at least, in hundredths.
        let gain: Int
        let make: @Sendable (inout RepeatableRandom) -> [[UInt8]]

        var testDescription: String { name }
    }

    private static func bytes(_ number: UInt64, _ width: Int, isBigEndian: Bool = false) -> [UInt8] {
        let bytes = (0..<width).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
        return isBigEndian ? bytes.reversed() : bytes
    }

    /// Steps of a random walk, with as many decimals as are asked for.
    private static func walk(
        _ count: Int, step: Double, scale: Double?, _ dice: inout RepeatableRandom
    ) -> [Double] {
        var place = Double.random(in: -80...80, using: &dice)
        return (0..<count).map { _ in
            place += Double.random(in: -step...step, using: &dice)
            return scale.map { (place * $0).rounded() / $0 } ?? place
        }
    }

    /// Polygons of one ring, each with a border that the one before has too, in a direction that the dice choose.
    private static func polygons(
        isBigEndian: Bool, dimensions: Int, scale: Double?, _ dice: inout RepeatableRandom
    ) -> [[UInt8]] {
        func border() -> [[UInt8]] {
            let columns = (0..<dimensions).map { _ in walk(40, step: 0.02, scale: scale, &dice) }
            return (0..<40).map { point in
                columns.flatMap { bytes($0[point].bitPattern, 8, isBigEndian: isBigEndian) }
            }
        }
        var last = border()
        return (0..<60).map { _ in
            let next = border()
            let shared = Bool.random(using: &dice) ? last : last.reversed()
            last = next
            let type = UInt64(3 + [2: 0, 3: 1000, 4: 3000][dimensions, default: 0])
            let head = Array("GP\0".utf8) + [isBigEndian ? 0 : 1] + bytes(4326, 4, isBigEndian: isBigEndian)
            let numbers = [type, 1, UInt64(shared.count + next.count)].flatMap {
                bytes($0, 4, isBigEndian: isBigEndian)
            }
            return head + [isBigEndian ? 0 : 1] + numbers + (shared + next).joined()
        }
    }

    static let makers: [Maker] =
        [false, true].flatMap { isBigEndian in
            [2, 3, 4].map { dimensions in
                Maker(name: "polygons of \(dimensions) reals, \(isBigEndian ? "big" : "little")-endian", gain: 18) {
                    polygons(isBigEndian: isBigEndian, dimensions: dimensions, scale: nil, &$0)
                }
            }
        } + [
            Maker(name: "polygons of decimals", gain: 50) {
                polygons(isBigEndian: false, dimensions: 2, scale: 1e6, &$0)
            },
            Maker(name: "tracks of times, latitudes and longitudes", gain: 50) { dice in
                (0..<40).map { track in
                    let count = 20 + track % 7
                    let places = [0, 1].map { _ in walk(count, step: 0.001, scale: 1e7, &dice) }
                    return (0..<count).flatMap { point in
                        bytes((1_700_000_000 + Double(track * 5000 + point * 3)).bitPattern, 8)
                            + places.flatMap { bytes($0[point].bitPattern, 8) }
                    }
                }
            },
            Maker(name: "vectors of reals of 32 bits", gain: -1) { dice in
                (0..<60).map { _ in
                    (0..<96).flatMap { _ -> [UInt8] in
                        var sum: Float = 0
                        for _ in 0..<6 { sum += Float.random(in: -0.02...0.02, using: &dice) }
                        return bytes(UInt64(sum.bitPattern), 4)
                    }
                }
            },
            Maker(name: "a series behind a head", gain: 8) { dice in
                (0..<40).map { row in
                    bytes(UInt64(row), 4) + walk(50, step: 0.5, scale: nil, &dice).flatMap { bytes($0.bitPattern, 8) }
                }
            },
            Maker(name: "samples of 16 bits", gain: 10) { dice in
                (0..<30).map { _ in
                    walk(400, step: 9, scale: 1, &dice).flatMap { bytes(UInt64(bitPattern: Int64($0 * 30)), 2) }
                }
            },
        ]

    private static func group(_ blobs: [[UInt8]]) -> RowGroup {
        RowGroup(blobs.map { [.blob($0)] }, rowids: (0..<blobs.count).map { Int64($0) })
    }

    @Test(arguments: makers, [1, 2] as [UInt64])
    func `arrays go by their numbers, and come back whole or damaged`(maker: Maker, seed: UInt64) throws {
        var dice = RepeatableRandom(seed: seed)
        var blobs = maker.make(&dice)
        var strings = Strings()
        for blob in blobs { strings.append(blob) }
        #expect(ArrayFinder(strings) != nil)
        let text = try Self.asTexts(blobs)
        let size = try SegmentTests.segment([Self.group(blobs)]).count
        #expect(size * 100 < text * (100 - maker.gain), "\(size) of \(text) bytes")
        for effort in SegmentTests.efforts { try SegmentTests.expectSame([Self.group(blobs)], .modern, effort) }
        for index in blobs.indices {
            switch Int.random(in: 0..<4, using: &dice) {
            case 0: blobs[index].removeLast(Int.random(in: 0...blobs[index].count, using: &dice))
            case 1: blobs[index].insert(7, at: Int.random(in: 0...blobs[index].count, using: &dice))
            case 2: blobs[index][Int.random(in: 0..<blobs[index].count, using: &dice)] ^= 0xff
            default: break
            }
        }
        try SegmentTests.expectSame([Self.group(blobs)])
    }

    /// Bytes that blobs take as they are, deflated.
    private static func asTexts(_ blobs: [[UInt8]]) throws -> Int {
        try Deflate.raw(of: Array(blobs.joined()), level: 9)?.count ?? blobs.reduce(0) { $0 + $1.count }
    }

    /// As servers hand geometries out.
    @Test func `arrays are found in hexadecimal digits`() throws {
        var dice = RepeatableRandom(seed: 6)
        let blobs = Array(Self.polygons(isBigEndian: false, dimensions: 2, scale: 1e6, &dice))
        let signs = Array("0123456789ABCDEF".utf8)
        let digits = blobs.map { $0.flatMap { [signs[Int($0 >> 4)], signs[Int($0 & 15)]] } }
        let (size, digitSize) = try (
            SegmentTests.segment([Self.group(blobs)]).count, SegmentTests.segment([Self.group(digits)]).count
        )
        #expect(digitSize < size + 100, "\(digitSize) of \(size) bytes")
        try SegmentTests.expectSame([Self.group(digits)])
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `any blobs that a finder takes come back`(seed: UInt64) throws {
        var dice = RepeatableRandom(seed: seed)
        for _ in 0..<60 {
            let size = Int.random(in: 0...300, using: &dice)
            let period = Int.random(in: 1...24, using: &dice)
            let pattern = dice.bytes(period)
            let noise = Int.random(in: 1...period, using: &dice)
            let blobs = (0..<Int.random(in: 1...12, using: &dice)).map { _ -> [UInt8] in
                let blob = dice.bytes(size).enumerated().map { $0 % period < noise ? $1 : pattern[$0 % period] }
                return Bool.random(using: &dice) ? blob : Array("GP\0\u{1}".utf8) + blob
            }
            try SegmentTests.expectSame([Self.group(blobs)])
        }
    }

    @Test func `a geometry is read to its last byte, or not at all`() throws {
        var dice = RepeatableRandom(seed: 4)
        let polygon = Self.polygons(isBigEndian: false, dimensions: 2, scale: nil, &dice)[0]
        let whole = try #require(Geometry(polygon[...]))
        #expect(whole.arrays == [21..<polygon.count])
        #expect(whole.layout == ArrayLayout(width: 8, fields: 2, isBigEndian: false))
        for count in 0..<polygon.count { #expect(Geometry(polygon[..<count]) == nil) }
        #expect(Geometry((polygon + [0])[...]) == nil)
        let point = Array(polygon[21..<37])
        let inner = [1] + Self.bytes(1, 4) + point
        let collection = [1] + Self.bytes(4, 4) + Self.bytes(3, 4) + inner + inner + inner
        #expect(Geometry(collection[...])?.arrays == [14..<30, 35..<51, 56..<72])
        let other = [0] + Self.bytes(1, 4, isBigEndian: true) + point
        #expect(Geometry(([1] + Self.bytes(4, 4) + Self.bytes(2, 4) + inner + other)[...]) == nil)
        let deep = (0..<9).reduce(inner) { nested, _ in [1] + Self.bytes(7, 4) + Self.bytes(1, 4) + nested }
        #expect(Geometry(deep[...]) == nil)
    }

    @Test func `an altered segment of arrays ends in an error or in other rows`() throws {
        var dice = RepeatableRandom(seed: 5)
        let blobs = Self.polygons(isBigEndian: false, dimensions: 2, scale: 1e3, &dice).prefix(4)
        let content = try StoredSegment.bytes(of: SegmentTests.segment([Self.group(Array(blobs))]))
        SegmentTests.readAltered(content)
    }
}
