// modules: StoreFormat ShipProtocol ShipCompression StoreEncoding

import ShipCompression

/// The bytes after the first are a value. What is found to make it makes it, byte for byte, and stands for no more than the limit.
///
/// They are also content, of which a stream is made with parameters that the first byte chooses: what is found in that is the content.
enum DeflateTarget {
    private static let limit = 1 << 18

    static func run(_ input: [UInt8]) {
        let value = input.dropFirst()
        if let found = DeflateRecompression(of: value, limit: limit) {
            precondition(found.value == Array(value), "another value")
            precondition(found.content.count <= limit, "more than the limit")
        }
        guard let choice = input.first,
            let parameters = DeflateParameters(
                level: Int(choice % 9) + 1, memoryLevel: Int(choice / 9 % 9) + 1, windowBits: 9 + Int(choice / 81) * 3)
        else { return }
        // Short ones are not tried, and some take too long.
        guard let made = DeflateRecompression(Array(value), parameters, .raw).value,
            let found = DeflateRecompression(of: made[...], limit: limit, hint: parameters)
        else { return }
        precondition(found.content == Array(value), "another content")
    }
}
