import ShipProtocol
import StoreFormat
import StoreInbox

/// Compares two generations of a store row by row. Both stay while it lives.
struct RowComparison {
    private let old: ComparedStore
    private let new: ComparedStore
    private let declarations: (old: [ForeignText: ContentDigest], new: [ForeignText: ContentDigest])
    /// Of both, in a store that Core Data made and that is the same one in both.
    private let names: (old: ObjectNames, new: ObjectNames)?
    private var room = TableMerge.Room()

    /// - Parameter check: Called before each page is read; throws to end the work.
    /// - Throws: Where one of them is gone, or cannot be read.
    private init(from old: Generation, to new: Generation, check: @escaping () throws -> Void) throws {
        self.old = try ComparedStore(old, check: check)
        self.new = try ComparedStore(new, check: check)
        declarations = (try self.old.declarations(), try self.new.declarations())
        if let before = try ObjectNames(of: self.old), let after = try ObjectNames(of: self.new),
            before.store == after.store
        {
            names = (before, after)
        } else {
            names = nil
        }
    }

    /// Adds to changed tables which of their rows changed, and tables that are declared otherwise: a column that came with a default is in
    /// no row, and reads otherwise in each.
    ///
    /// - Parameters:
    ///   - old: The generation before; `nil` if there was none.
    ///   - check: Called before each page is read; what it throws ends the comparison.
    static func tell(
        _ tables: [GenerationDifference.TableChange], from old: Generation?, to new: Generation,
        checking check: @escaping () throws -> Void
    ) -> [GenerationDifference.TableChange] {
        var comparison = old.flatMap { try? RowComparison(from: $0, to: new, check: check) }
        var told = tables
        if let redeclared = comparison?.redeclared(beside: tables), !redeclared.isEmpty {
            told = (told + redeclared).sorted { $0.name < $1.name }
        }
        // What Core Data keeps for itself, as its history, takes no room from the app's rows.
        let own = told.indices.filter { ObjectNames.canBeObjects(told[$0].name) }
        for index in own + told.indices where told[index].rows == nil {
            told[index].rows =
                if told[index].rowsBefore == nil {
                    .table(.new)
                } else if told[index].rowsAfter == nil {
                    .table(.gone)
                } else {
                    comparison?.changes(of: told[index].name) ?? .table(.unknown)
                }
        }
        return told
    }

    /// Tables of both that are declared otherwise, and have the same rows.
    private func redeclared(beside tables: [GenerationDifference.TableChange]) -> [GenerationDifference.TableChange] {
        let known = Set(tables.map(\.name))
        return declarations.new.compactMap { name, declaration in
            guard !known.contains(name), let before = declarations.old[name], before != declaration else { return nil }
            let rows = try? new.count(of: name)
            return GenerationDifference.TableChange(
                name: name, rowsBefore: rows, rowsAfter: rows, rows: .table(.declaration))
        }
    }

    private mutating func changes(of table: ForeignText) -> RowChanges {
        do {
            return try merged(table)
        } catch is TableMerge.TooMany {
            return .table(.tooMany)
        } catch {
            return .table(.unknown)
        }
    }

    private mutating func merged(_ table: ForeignText) throws -> RowChanges {
        guard let declaration = declarations.new[table], let rows = try new.rows(of: table),
            let oldRows = try old.rows(of: table)
        else { return .table(.unknown) }
        guard declarations.old[table] == declaration else { return .table(.declaration) }
        let (before, after) = (old.settings, new.settings)
        let key = try new.read {
            try TableKey(of: table.unescaped, rows.kind, textEncoding: after.textEncoding, in: $0)
        }
        guard let key, rows.kind == oldRows.kind, before.textEncoding == after.textEncoding,
            before.integers == after.integers
        else { return .table(.unknown) }
        let names = ObjectNames.canBeObjects(table) ? names : nil
        let merge = TableMerge(
            MergedRows(oldRows, textEncoding: before.textEncoding, names?.old),
            MergedRows(rows, textEncoding: after.textEncoding, names?.new), key,
            hasSamePages: before.pageSize == after.pageSize && before.reservedBytes == after.reservedBytes, in: room)
        let found = try merge.run()
        room = found.room
        return .rows(found.rows)
    }
}
