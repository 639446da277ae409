import EssentialFoundation

/// The member of a record that says in which version of its format the record is. It is read before the rest, which a later version may
/// write in another way.
package struct FormatVersion: Decodable, Sendable {
    private let version: Int

    /// - Returns: `nil` for what is no record in JSON, or has no version.
    package static func of(_ json: [UInt8]) -> Int? {
        (try? JSONDecoder().decode(FormatVersion.self, from: Data(json)))?.version
    }
}
