import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// What is in each table of a store that was checked, found by a walk over its pages: two stores of which a table has equal
/// contents here have the same rows in it. Nobody's word is taken for it, and SQLite is not asked.
///
/// Rows are compared as they are written: a table that was written anew with the same values may be told of, where one of the two
/// stores has no canonical form, or where rows have columns now that they had from their defaults before.
///
/// Source: `Protocol/README.md` section 4.8.
struct StoredTables: Hashable, Sendable {
    /// By the names of the tables that are not SQLite's own.
    private let contents: [ForeignText: TableContent]

    /// - Parameter path: The store.
    /// - Parameter check: Called before each page.
    /// - Throws: `FileError`, `StoreFlaw`, `CancellationError`, and what `check` throws.
    init(of path: FilePath, checking check: @escaping () throws -> Void = {}) throws {
        contents = try TableDigests.read(path) {
            try Task.checkCancellation()
            try check()
        }.contents
    }

    /// Which tables of a generation have other rows than in the one before it.
    ///
    /// - Parameters:
    ///   - old: The generation before; `nil` if there was none.
    ///   - known: What is in its tables, if that was found already.
    ///   - check: Called before each page; what it throws ends the comparison.
    /// - Returns: The changes, sorted by name, or `nil` if they cannot be told; and what is in the tables of the new one.
    static func changes(
        from old: Generation?, _ known: StoredTables?, to new: Generation, checking check: @escaping () throws -> Void
    ) -> (changes: [GenerationDifference.TableChange]?, tables: StoredTables?) {
        if let old, old.manifest.store.sha256 == new.manifest.store.sha256 { return ([], known) }
        guard let after = try? StoredTables(of: new.storePath, checking: check) else { return (nil, nil) }
        guard let old else { return (after.changes(from: [:]), after) }
        let before = known ?? (try? StoredTables(of: old.storePath, checking: check))
        return (before.map { after.changes(from: $0.contents) }, after)
    }

    private func changes(from before: [ForeignText: TableContent]) -> [GenerationDifference.TableChange] {
        Set(before.keys).union(contents.keys).sorted().filter { before[$0] != contents[$0] }.map { name in
            GenerationDifference.TableChange(
                name: name, rowsBefore: before[name]?.rows, rowsAfter: contents[name]?.rows)
        }
    }
}
