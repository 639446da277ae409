/// Decodes segments into a store. It must withstand bytes that an attacker wrote.
///
/// It does not compare the result with the manifest: its caller does that, by size and SHA-256.
package protocol StoreSegmentDecoder: AnyObject {
    /// Takes the next segment.
    ///
    /// - Throws: `CompressionError` if the segment does not decode: the caller then discards the store, and calls no more. Other
    ///   errors, mostly of the file system, end the session.
    func append(_ segment: [UInt8]) throws

    /// Completes the store's file after the last segment. It does not sync the file.
    ///
    /// - Throws: The errors of `append`.
    func finish() throws

    /// Bytes of the store that are decoded, about: for the progress display.
    var bytesDone: Int64 { get }
}
