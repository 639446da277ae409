/// The lines of a text in base64.
struct Base64Lines: Hashable, Sendable {
    /// Digits and padding in each line but the last, 1 to 255.
    let length: Int
    /// Between two lines, 1 to 16 bytes.
    let ending: [UInt8]

    var text: String { String(decoding: ending, as: UTF8.self) }
}
