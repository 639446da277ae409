import StoreFormat

/// A file for entries, in memory.
package final class MemorySpill: SpillFile {
    private var bytes: [UInt8] = []

    package init() {}

    package func append(_ bytes: [UInt8]) throws { self.bytes += bytes }

    package func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
        Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
}
