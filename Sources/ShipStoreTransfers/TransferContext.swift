import EssentialFoundation

/// Shipments in an application context, as a binary property list.
struct TransferContext: Hashable, Sendable, Codable {
    var shipments: [Carried] = []

    struct Carried: Hashable, Sendable, Codable {
        /// Of a `TransferMessage.store`.
        let message: [String: String]
        let shipment: Data

        var token: TransferMessage.Token? { message["token"].flatMap(TransferMessage.Token.init) }
    }

    /// Longest one to set, in bytes. A context has 262,144; the rest is for the app's own.
    static let sizeLimit = 200_000
    /// Longest one to read, in bytes.
    private static let readingLimit = 262_144

    init() {}

    /// - Parameter bytes: As they came; what is no context is empty.
    init(decoding bytes: Data?) {
        guard let bytes, bytes.count <= Self.readingLimit,
            let context = try? PropertyListDecoder().decode(TransferContext.self, from: bytes)
        else { return }
        self = context
    }

    /// - Returns: `nil` for an empty one.
    func encoded() throws -> Data? {
        guard !shipments.isEmpty else { return nil }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try encoder.encode(self)
    }
}
