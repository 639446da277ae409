public import GRDB
package import SystemPackage

/// One file, opened read-only, immutable and hardened, for as long as this value is held: a generation that is replaced or
/// pruned meanwhile stays whole for its holder, because an open file outlives its name.
public struct ServedStore: Sendable {
    private let queue: DatabaseQueue

    /// - Parameters:
    ///   - path: A store in rollback mode that nobody changes.
    ///   - size: Of the file, in bytes.
    /// - Throws: `DatabaseError` if SQLite cannot open it.
    package init(opening path: FilePath, size: Int64) throws {
        queue = try DatabaseQueue(
            path: HardenedConfiguration.immutableURI(of: path),
            configuration: HardenedConfiguration.make(trust: .checked, longestValue: size))
    }

    /// Runs reads on the store. Reads of one value wait for each other.
    ///
    /// - Throws: What `body` throws, `DatabaseError` among it.
    public func read<Result: Sendable>(_ body: @Sendable (Database) throws -> Result) async throws -> Result {
        try await withoutActuallyEscaping(body) { body in
            try await queue.read(body)
        }
    }
}
