import StoreFormat

/// The record of one row.
struct RecordBytes: ByteSource {
    private let places: RandomAccessRecord?

    /// - Parameter places: `nil` for no row: there are no bytes then.
    init(_ places: RandomAccessRecord?) { self.places = places }

    var size: Int64 { Int64(places?.size ?? 0) }

    func append(_ range: Range<Int64>, to bytes: inout [UInt8]) throws {
        try places?.append(Int(range.lowerBound)..<Int(range.upperBound), to: &bytes)
    }
}
