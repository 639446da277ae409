/// An item that is not as predicted.
struct BlockCorrection {
    /// How many items since the last correction are as predicted.
    let before: Int64
    let literals: Int64
    /// 0 for as many bytes as are alike.
    let length: Int64
    /// 0 for the one that the table leads to.
    let distance: Int64

    /// Content has at most one correction for so many of its bytes.
    static let bytes = 8
}
