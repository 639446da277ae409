/// A file for entries that do not fit into memory.
package protocol SpillFile: AnyObject {
    func append(_ bytes: [UInt8]) throws
    /// Reads `count` bytes that have been appended.
    func read(_ count: Int, at offset: Int64) throws -> [UInt8]
}
