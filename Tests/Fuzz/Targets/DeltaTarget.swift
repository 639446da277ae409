// modules: StoreFormat ShipProtocol ShipCompression StoreEncoding

import ShipCompression
import StoreEncoding
import StoreFormat

/// The bytes are a base, and the segments of a delta against it, each after its size in three bytes: what they make is built in
/// memory, once as a store and once as an external file.
///
/// The first byte is the page size of the manifest, as a power of two from 512, and the second the number of its pages, from 1.
enum DeltaTarget {
    static func run(_ input: [UInt8]) {
        guard input.count > 2 else { return }
        let pageCount = UInt32(input[1]) + 1
        var rest = input.dropFirst(2)
        func piece() -> [UInt8] {
            let size = rest.prefix(3).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(3)
            defer { rest = rest.dropFirst(size) }
            return Array(rest.prefix(size))
        }
        let content = piece()
        var segments: [[UInt8]] = []
        while !rest.isEmpty { segments.append(piece()) }
        makeFile(of: segments, content, size: Int64(pageCount) * 512)
        guard let base = try? FuzzPages(content), !base.bytes.isEmpty else { return }
        let builder = DeltaBuilder(base: base, pageSize: 512 << Int(input[0] % 8), pageCount: pageCount) {
            FuzzPages(pageSize: $0, mostPages: pageCount)
        }
        do {
            for segment in segments { try builder.append(segment) }
            try builder.finish()
        } catch is CompressionError {
        } catch is FuzzPages.OutOfRange {
            // A base that is cut.
        } catch {
            fatalError("\(error)")
        }
    }
    private static func makeFile(of segments: [[UInt8]], _ source: [UInt8], size: Int64) {
        var made: Int64 = 0
        let builder = FileDeltaBuilder(size: size) { _ in
            Content(bytes: source)
        } write: {
            made += Int64($0.count)
            guard made <= size else { fatalError("more than the manifest says") }
        }
        do {
            for segment in segments { try builder.append(segment) }
            try builder.finish()
            guard made == size else { fatalError("less than the manifest says") }
        } catch is CompressionError {
        } catch {
            fatalError("\(error)")
        }
    }

    private struct Content: ByteSource {
        let bytes: [UInt8]
        var size: Int64 { Int64(bytes.count) }

        func append(_ range: Range<Int64>, to other: inout [UInt8]) {
            other += bytes[Int(range.lowerBound)..<Int(range.upperBound)]
        }
    }
}
