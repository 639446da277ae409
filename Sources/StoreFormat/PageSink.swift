/// Takes the pages of a store that is being written.
package protocol PageSink: AnyObject {
    /// Takes one complete page. Each page comes once, in any order.
    func write(_ page: [UInt8], number: UInt32) throws
    /// Takes an entry of a pointer map page: 5 bytes at an offset. The rest of the page is zeros.
    func writePointer(_ entry: (type: UInt8, parent: UInt32), map: UInt32, offset: Int) throws
}
