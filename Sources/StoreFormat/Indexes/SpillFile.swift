/// A file for entries that do not fit into memory.
package protocol SpillFile: AnyObject {
    func append(_ bytes: [UInt8]) throws
    /// Reads up to `count` bytes, fewer only at the end.
    func read(_ count: Int, at offset: Int64) throws -> [UInt8]
}
