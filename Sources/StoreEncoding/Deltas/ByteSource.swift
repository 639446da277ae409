/// Bytes that can be read from any place.
package protocol ByteSource {
    /// In bytes.
    var size: Int64 { get }
    /// - Parameter range: Within `0..<size`.
    func append(_ range: Range<Int64>, to bytes: inout [UInt8]) throws
}
