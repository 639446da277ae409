import GRDB
public import ShipProtocol
package import SystemPackage

/// Opens stores read-only, and serves the newest generation of each to readers.
///
/// A swap is one assignment: a read that is under way finishes on the generation on which it began.
public actor StoreCoordinator {
    private var stores: [StoreName: (generation: Int, store: ServedStore)] = [:]

    public init() {}

    /// Opens a generation, tries it, and serves it from now on.
    ///
    /// - Parameters:
    ///   - path: Of the store's file; read now, and never by this name again.
    ///   - size: Of the file, in bytes.
    /// - Throws: `DatabaseError` if it cannot be opened and read; then the one before goes on being served.
    package func serve(_ name: StoreName, generation: Int, at path: FilePath, size: Int64) async throws {
        let store = try ServedStore(opening: path, size: size)
        _ = try await store.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema") }
        stores[name] = (generation, store)
    }

    /// The number of the generation that is served, or `nil`.
    public func generation(of name: StoreName) -> Int? { stores[name]?.generation }

    /// What is served now, to be held for as long as one wishes, or `nil`.
    public func store(_ name: StoreName) -> ServedStore? { stores[name]?.store }
}
