/// The space on a disk that spill files take. It counts each byte, so that they do not fill a disk on which space has to stay free.
package protocol SpillSpace: Sendable {
    /// Called before bytes are written.
    ///
    /// - Throws: If there is no room for them.
    func take(_ bytes: Int64) throws
    /// Called after they were written.
    func wrote(_ bytes: Int64)
    /// Called when bytes are off the disk again.
    func giveBack(_ bytes: Int64)
}
