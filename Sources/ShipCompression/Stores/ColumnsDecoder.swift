/// Segments into a store. It faces bytes that an enemy may have written.
///
/// Whether the store is the manifest's is compared by others, by size and SHA-256: it need only be whole if nobody is lying.
package protocol ColumnsDecoder: AnyObject {
    /// Takes the next segment.
    ///
    /// - Throws: `CompressionError` if it does not decode: the store is given up, and no more comes. Other errors, of the file
    ///   system above all, end the session.
    func append(_ segment: [UInt8]) throws

    /// No more comes: makes the store's file whole. Its pages need not be synced.
    ///
    /// - Throws: As `append`.
    func finish() throws

    /// Bytes of the store that are done, about: for the progress that people are shown.
    var bytesDone: Int64 { get }
}
