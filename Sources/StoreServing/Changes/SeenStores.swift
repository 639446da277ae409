import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// What somebody knows of an inbox, and how it differs from what is there now.
///
/// However many switches there were since the last look, one change tells of them: from what was seen to what is there.
struct SeenStores {
    private struct Seen {
        let name: GenerationName
        /// Of its folder: an inbox that was made anew may use a name again.
        let identity: FileStatus.Identity
        /// The last one whose manifest could be read.
        let readable: Generation?
        /// What is in its tables, if that has been asked already.
        var tables: StoredTables?
    }

    private let inbox: Inbox
    private var seen: [StoreName: Seen] = [:]

    /// The store of the last change: the others get their turn first.
    private var lastTold: StoreName?

    /// Knows what is there now.
    ///
    /// - Parameter number: Of the generation that was seen last, of each store: another one that is current now is a change.
    ///   0 if none was; `nil` if what is there now is no news.
    init(in inbox: Inbox, since number: Int? = nil) {
        self.inbox = inbox
        for name in (try? inbox.storeNames()) ?? [] {
            guard let number else {
                _ = look(at: name, .no)
                continue
            }
            // One that is not kept any more differs in everything.
            guard let generation = try? inbox.generationNames(of: name).first(where: { $0.number == number }) else {
                continue
            }
            know(generation, of: name)
        }
    }

    private mutating func know(_ name: GenerationName, of store: StoreName) {
        let path = inbox.layout.generations(store).appending(name.text)
        guard let identity = try? PlatformCalls.status(of: path).identity else { return }
        seen[store] = Seen(name: name, identity: identity, readable: try? Generation(name, of: store, in: inbox))
    }

    /// What is current and known, sorted by name.
    var current: [StoreChange.Current] {
        seen.compactMap { store, seen in
            guard let generation = seen.readable, seen.name == inbox.currentName(of: store),
                generation.number == seen.name.number
            else { return nil }
            return StoreChange.Current(store: store, generation: GenerationStamp(generation))
        }.sorted { $0.store < $1.store }
    }

    /// - Parameter check: Called while tables are compared; what it throws ends that, and what is returned is void then.
    /// - Returns: How one store differs from what was seen of it, or `nil` if none does.
    mutating func nextChange(checking check: @escaping () throws -> Void) -> StoreChange? {
        let names: [StoreName]
        do throws(InboxError) {
            names = try inbox.storeNames()
        } catch {
            // A folder that cannot be listed now says nothing of its stores.
            guard case .noInbox = error else { return nil }
            names = []
        }
        let sorted = Set(names).union(seen.keys).sorted()
        let start = lastTold.flatMap { last in sorted.firstIndex { $0 > last } } ?? 0
        for name in sorted[start...] + sorted[..<start] {
            guard let change = look(at: name, .yes, checking: check) else { continue }
            lastTold = name
            return change
        }
        return nil
    }

    /// Whether somebody wants to know what is different.
    private enum Told: Hashable { case yes, no }

    private mutating func look(
        at store: StoreName, _ isTold: Told, checking check: @escaping () throws -> Void = {}
    ) -> StoreChange? {
        while true {
            let before = seen[store]
            guard let name = inbox.currentName(of: store),
                let identity = try? PlatformCalls.statusFollowingLinks(of: inbox.layout.current(store)).identity
            else {
                return seen.removeValue(forKey: store).map { _ in .removed(store) }
            }
            if let before, before.name == name, before.identity == identity { return nil }
            do throws(InboxError) {
                let generation = try Generation(name, of: store, in: inbox)
                seen[store] = Seen(name: name, identity: identity, readable: generation, tables: before?.tables)
                // An inbox that was made anew with what was in it before.
                if before?.name == name, before?.readable?.manifest == generation.manifest { return nil }
                guard isTold == .yes else {
                    seen[store]?.tables = nil
                    return nil
                }
                let (changes, tables) = StoredTables.changes(
                    from: before?.readable, before?.tables, to: generation, checking: check)
                seen[store]?.tables = tables
                return .generation(GenerationChange(from: before?.readable, to: generation, tables: changes))
            } catch {
                // Pruned after the look at the link: there is a newer one.
                if inbox.currentName(of: store) != name { continue }
                seen[store] = Seen(name: name, identity: identity, readable: before?.readable, tables: before?.tables)
                return .unreadable(store, generation: name.number, error)
            }
        }
    }
}

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
