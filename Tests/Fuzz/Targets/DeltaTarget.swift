// modules: StoreFormat ShipProtocol ShipCompression

import ShipCompression
import StoreFormat

/// The bytes are a base, and the segments of a delta against it, each after its size in three bytes: what they make is built in
/// memory.
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
        guard let base = try? FuzzPages(piece()), !base.bytes.isEmpty else { return }
        let builder = DeltaBuilder(base: base, pageSize: 512 << Int(input[0] % 8), pageCount: pageCount) {
            FuzzPages(pageSize: $0, mostPages: pageCount)
        }
        do {
            while !rest.isEmpty { try builder.append(piece()) }
            try builder.finish()
        } catch is CompressionError {
        } catch is FuzzPages.OutOfRange {
            // A base that is cut.
        } catch {
            fatalError("\(error)")
        }
    }
}
