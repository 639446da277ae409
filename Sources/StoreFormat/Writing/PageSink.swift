/// Where the pages of a store go that is being written.
package protocol PageSink: AnyObject {
    /// Takes one whole page. Each comes once, in no order that could be counted on.
    func write(_ page: [UInt8], number: UInt32) throws
    /// Takes an entry of a pointer map page: 5 bytes at an offset. Where no entry comes, there are zeros.
    func writePointer(_ entry: (type: UInt8, parent: UInt32), map: UInt32, offset: Int) throws
}
