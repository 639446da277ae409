import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// A subscriber's knowledge of an inbox, and how it differs from what is there now.
///
/// One change stands for all switches since the last look: from what was seen to what is there.
struct SeenStores {
    private struct Seen {
        let name: GenerationName
        /// Of its folder: an inbox that was made anew may use a name again.
        let identity: FileStatus.Identity
        /// The last one whose manifest could be read.
        let readable: Generation?
        /// The content of its tables by their names, if that was read already.
        var tables: [ForeignText: TableContent]?
    }

    private let inbox: Inbox
    private let tellsRows: Bool
    private var seen: [StoreName: Seen] = [:]
    /// Of which a generation was seen that is not kept any more: which tables differ from it cannot be told.
    private var forgotten: Set<StoreName> = []

    /// The store of the last change: the others get their turn first.
    private var lastTold: StoreName?

    /// Knows what is there now.
    ///
    /// - Parameters:
    ///   - number: Of the generation that was seen last, of each store: another one that is current now is a change. 0 if none was;
    ///     `nil` if what is there now is no news.
    ///   - tellsRows: Whether the rows of changed tables are told.
    init(in inbox: Inbox, since number: Int? = nil, tellsRows: Bool = false) {
        self.inbox = inbox
        self.tellsRows = tellsRows
        for name in (try? inbox.storeNames()) ?? [] {
            guard let number else {
                _ = look(at: name, comparing: false)
                continue
            }
            guard let generation = try? inbox.open().generationNames(of: name).first(where: { $0.number == number })
            else {
                if number > 0 { forgotten.insert(name) }
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

    /// The generations that are current and known, sorted by name.
    var current: [GenerationStamp] {
        seen.compactMap { store, seen in
            guard let generation = seen.readable, seen.name == (try? inbox.open().currentName(of: store)),
                generation.number == seen.name.number
            else { return nil }
            return GenerationStamp(generation)
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
            guard let change = look(at: name, checking: check) else { continue }
            lastTold = name
            return change
        }
        return nil
    }

    /// - Returns: `nil` if nothing is current, or what is leads nowhere.
    private func current(of store: StoreName) throws -> (name: GenerationName, identity: FileStatus.Identity)? {
        do {
            guard let name = try inbox.open().currentName(of: store) else { return nil }
            let status = try FileError.unlessAbsent { () throws(FileError) in
                try PlatformCalls.statusFollowingLinks(of: inbox.layout.current(store))
            }
            return status.map { (name, $0.identity) }
        } catch InboxError.noInbox {
            return nil
        }
    }

    /// - Parameter comparing: Whether the caller wants to know what is different.
    private mutating func look(
        at store: StoreName, comparing: Bool = true, checking check: @escaping () throws -> Void = {}
    ) -> StoreChange? {
        while true {
            let before = seen[store]
            let found: (name: GenerationName, identity: FileStatus.Identity)?
            do {
                found = try current(of: store)
            } catch {
                // What cannot be looked at now says nothing.
                return nil
            }
            guard let (name, identity) = found else {
                return seen.removeValue(forKey: store).map { _ in .removed(store) }
            }
            if let before, before.name == name, before.identity == identity { return nil }
            do throws(InboxError) {
                let generation = try Generation(name, of: store, in: inbox)
                seen[store] = Seen(name: name, identity: identity, readable: generation, tables: before?.tables)
                // An inbox that was made anew with what was in it before.
                if before?.name == name, before?.readable?.manifest == generation.manifest { return nil }
                guard comparing else {
                    seen[store]?.tables = nil
                    return nil
                }
                let isForgotten = forgotten.remove(store) != nil
                var (changes, tables) = Self.changes(
                    from: before?.readable, before?.tables, to: generation, checking: check)
                seen[store]?.tables = tables
                if isForgotten {
                    changes = nil
                } else if tellsRows {
                    changes = changes.map {
                        RowComparison.tell($0, from: before?.readable, to: generation, checking: check)
                    }
                }
                return .generation(GenerationChange(from: before?.readable, to: generation, tables: changes))
            } catch {
                // Pruned after the look at the link: there is a newer one.
                if (try? inbox.open().currentName(of: store)) != name { continue }
                seen[store] = Seen(name: name, identity: identity, readable: before?.readable, tables: before?.tables)
                return .unreadable(store, generation: name.number, error)
            }
        }
    }
}

/// The content of each table of a store that was checked, found by a walk over its pages. Two stores whose tables have equal
/// contents here have the same rows in them. Neither a manifest nor SQLite is asked.
///
/// Rows are compared as they are written: a table that was written anew with the same values may be reported, where one of the
/// two stores has no canonical form, or where rows have columns now that they had from their defaults before.
///
/// Source: `Protocol/README.md` section 4.8.
extension SeenStores {
    /// - Parameters:
    ///   - path: The store.
    ///   - check: Called before each page.
    /// - Throws: `FileError`, `StoreFlaw`, `CancellationError`, and what `check` throws.
    private static func tables(
        of path: FilePath, checking check: @escaping () throws -> Void
    ) throws -> [ForeignText: TableContent] {
        try TableDigests.read(path) {
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
    private static func changes(
        from old: Generation?, _ known: [ForeignText: TableContent]?, to new: Generation,
        checking check: @escaping () throws -> Void
    ) -> (changes: [GenerationDifference.TableChange]?, tables: [ForeignText: TableContent]?) {
        if let old, old.manifest.store.sha256 == new.manifest.store.sha256 { return ([], known) }
        guard let after = try? tables(of: new.storePath, checking: check) else { return (nil, nil) }
        guard let old else { return (changes(from: [:], to: after), after) }
        let before = known ?? (try? tables(of: old.storePath, checking: check))
        return (before.map { changes(from: $0, to: after) }, after)
    }

    private static func changes(
        from before: [ForeignText: TableContent], to after: [ForeignText: TableContent]
    ) -> [GenerationDifference.TableChange] {
        Set(before.keys).union(after.keys).sorted().filter { before[$0] != after[$0] }.map { name in
            GenerationDifference.TableChange(name: name, rowsBefore: before[name]?.rows, rowsAfter: after[name]?.rows)
        }
    }
}
