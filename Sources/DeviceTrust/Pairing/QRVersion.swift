/// The size of a QR code, and how its bytes are protected, at error correction level M (15 %).
///
/// Source: ISO/IEC 18004:2015, tables 1, 7 and 9, annex E. Only the versions that a device's id needs are here: none has a version
/// information area, and all blocks of a version have the same length.
struct QRVersion: Hashable {
    let number: Int
    /// How many blocks the data is split into, each with its own check bytes.
    let blocks: Int
    /// Data bytes, and check bytes, of one block.
    let dataInBlock: Int
    let checkInBlock: Int

    static let all = [
        QRVersion(number: 1, blocks: 1, dataInBlock: 16, checkInBlock: 10),
        QRVersion(number: 2, blocks: 1, dataInBlock: 28, checkInBlock: 16),
        QRVersion(number: 3, blocks: 1, dataInBlock: 44, checkInBlock: 26),
        QRVersion(number: 4, blocks: 2, dataInBlock: 32, checkInBlock: 18),
        QRVersion(number: 5, blocks: 2, dataInBlock: 43, checkInBlock: 24),
        QRVersion(number: 6, blocks: 4, dataInBlock: 27, checkInBlock: 16),
    ]

    /// Modules on each side.
    var side: Int { 17 + 4 * number }
    var dataBytes: Int { blocks * dataInBlock }
    /// Row and column of the middle of the alignment pattern.
    var alignment: Int? { number == 1 ? nil : side - 7 }
}
