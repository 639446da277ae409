// modules: StoreFormat ShipProtocol ShipCompression StoreEncoding

import ShipCompression
import StoreEncoding
import StoreFormat

/// The bytes are segments, each after its size in three bytes: a store is built of them, in memory.
///
/// The first byte is the page size of the manifest, as a power of two from 512, and the second the number of its pages, from 1.
enum SegmentsTarget {
    static func run(_ input: [UInt8]) {
        guard input.count > 2 else { return }
        let pageCount = UInt32(input[1]) + 1
        let builder = StoreBuilder(pageSize: 512 << Int(input[0] % 8), pageCount: pageCount) { settings in
            FuzzPages(pageSize: settings.pageSize, mostPages: pageCount)
        }
        var rest = input.dropFirst(2)
        do {
            while !rest.isEmpty {
                let size = rest.prefix(3).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(3)
                try builder.append(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
        } catch is CompressionError {
        } catch {
            fatalError("\(error)")
        }
    }
}
