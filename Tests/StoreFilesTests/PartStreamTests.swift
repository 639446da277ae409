import Foundation
import ShipProtocol
import SystemPackage
import TestSupport
import Testing

@testable import StoreFiles

/// What is kept of a part's stream, and how far it goes.
@Suite struct PartStreamTests {
    private let scratch: ScratchFolder
    private let header = PartStream.Header(
        .columns, of: Manifest.Part(size: 4096, sha256: ContentDigest(hashing: [7])))

    init() throws { scratch = try ScratchFolder() }

    private var path: FilePath { scratch.path.appending("stream") }

    private func folder() throws -> OpenFolder { try OpenFolder(following: scratch.path) }

    private func reopened() throws -> PartStream { try #require(try PartStream(at: path, in: try folder())) }

    /// The stream as section 3.3 has it.
    private static func bytes(_ pieces: [[UInt8]]) -> [UInt8] {
        pieces.flatMap { piece in withUnsafeBytes(of: UInt32(piece.count).bigEndian) { Array($0) } + piece }
    }

    @Test func `what was written is found again, and says how far it goes`() throws {
        let pieces: [[UInt8]] = [[1, 2, 3], [4], Array(repeating: 5, count: 70_000)]
        do {
            let stream = try PartStream(header, at: path, in: try folder())
            for (index, piece) in pieces.enumerated() { try stream.append(piece, of: piece.count, note: UInt64(index)) }
            try stream.append([9, 9], of: 10)
        }
        let stream = try reopened()
        #expect(stream.header == header)
        #expect(stream.entries.map(\.note) == [0, 1, 2, 0])
        #expect(stream.entries.map(\.isWhole) == [true, true, true, false])
        #expect(try (0..<4).map { try stream.data($0) } == pieces + [[9, 9]])
        let whole = Self.bytes(pieces + [Array(repeating: 9, count: 10)])
        #expect(stream.position == Int64(whole.count - 8))
        for (position, place) in [
            (0, (0, 0)), (7, (1, 0)), (12, (2, 0)), (12 + 4 + 5, (2, 5)), (whole.count - 8, (3, 2)),
        ] {
            let found = try #require(stream.place(of: Int64(position)))
            #expect(found == place, "\(position)")
            #expect(try stream.digest(upTo: Int64(position)) == ContentDigest(hashing: whole.prefix(position)))
        }
        for position in [-1, 1, 4, 8, 11, 13, 16, whole.count - 9 - 1, whole.count - 7, .max] {
            #expect(stream.place(of: Int64(position)) == nil, "\(position)")
        }
        try stream.extend(with: Array(repeating: 9, count: 3))
        #expect(throws: FileError.self) { try stream.append([1], of: 1) }
        #expect(throws: FileError.self) { try stream.extend(with: Array(repeating: 9, count: 6)) }
        try stream.extend(with: Array(repeating: 9, count: 5))
        try stream.append([8], of: 1)
        let again = try reopened()
        #expect(again.entries.map(\.isWhole) == [true, true, true, true, true])
        #expect(try again.digest(upTo: again.position) == ContentDigest(hashing: whole + Self.bytes([[8]])))
    }

    @Test func `a file that ends anywhere is as good as up to there`() throws {
        let pieces: [[UInt8]] = [[1, 2, 3], [4, 5]]
        do {
            let stream = try PartStream(header, at: path, in: try folder())
            for piece in pieces { try stream.append(piece, of: piece.count) }
        }
        let bytes = try #require(FileManager.default.contents(atPath: path.string))
        for count in 0..<bytes.count {
            try bytes.prefix(count).write(to: URL(fileURLWithPath: path.string))
            let stream = try PartStream(at: path, in: try folder())
            guard count >= 81 else {
                #expect(stream == nil)
                continue
            }
            let found = try #require(stream)
            // The first piece has its bytes from 93 on, the second one from 108 on.
            let expected = count <= 93 ? 0 : count <= 96 ? 4 + count - 93 : count <= 108 ? 7 : 7 + 4 + count - 108
            #expect(found.position == Int64(expected), "\(count)")
        }
    }

    @Test(arguments: [0, 8, 81, 82, 84])
    func `a damaged file says less, and nothing that is not there`(place: Int) throws {
        do {
            let stream = try PartStream(header, at: path, in: try folder())
            try stream.append([1, 2, 3], of: 3)
        }
        var bytes = try #require(FileManager.default.contents(atPath: path.string))
        bytes[place] ^= 0xFF
        try bytes.write(to: URL(fileURLWithPath: path.string))
        let stream = try PartStream(at: path, in: try folder())
        #expect((stream == nil) == (place <= 8))
        // A size beyond its limit is none; one that is not, is more than there is.
        #expect(stream.map { $0.position } ?? 0 == (place == 84 ? 7 : 0))
    }
}
