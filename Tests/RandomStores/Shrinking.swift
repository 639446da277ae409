import RandomValues

extension RandomCase {
    /// A smaller case that fails as this one does: tables, columns, rows and steps are left out, then values made simpler, as long as
    /// there is time and it helps.
    package func shrunk(
        until deadline: ContinuousClock.Instant, failing fails: @escaping (RandomCase) async throws -> Bool
    ) async throws -> RandomCase {
        var search = Search(best: self, deadline: deadline, fails: fails)
        var before: Int
        repeat {
            before = search.progress
            try await search.shrinkTurns()
            try await search.shrink(count: { $0.store.tables.count }) { $0.store.tables.removeSubrange($1) }
            try await search.shrink(count: { $0.store.more.count }) { $0.store.more.removeSubrange($1) }
            try await search.shrinkSettings()
            for table in search.best.store.tables.indices { try await search.shrink(table: table) }
        } while search.progress > before && .now < deadline
        return search.best
    }

    private struct Search {
        private(set) var best: RandomCase
        let deadline: ContinuousClock.Instant
        let fails: (RandomCase) async throws -> Bool
        private(set) var progress = 0

        init(best: RandomCase, deadline: ContinuousClock.Instant, fails: @escaping (RandomCase) async throws -> Bool) {
            (self.best, self.deadline, self.fails) = (best, deadline, fails)
        }

        /// - Returns: Whether the case still fails with this change, which then stays.
        @discardableResult
        private mutating func tries(_ change: (inout RandomCase) -> Void) async throws -> Bool {
            guard .now < deadline else { return false }
            var candidate = best
            change(&candidate)
            guard try await fails(candidate) else { return false }
            best = candidate
            progress += 1
            return true
        }

        /// Leaves out runs of some elements: half of them, then a quarter, and in the end each.
        mutating func shrink(
            count: (RandomCase) -> Int, remove: (inout RandomCase, Range<Int>) -> Void
        ) async throws {
            var size = count(best)
            while size > 0, .now < deadline {
                var start = 0
                while start < count(best) {
                    let range = start..<min(start + size, count(best))
                    if try await !tries({ remove(&$0, range) }) { start = range.upperBound }
                }
                size /= 2
            }
        }

        mutating func shrinkTurns() async throws {
            try await shrink(count: { $0.turns.count }) { $0.turns.removeSubrange($1) }
            for turn in best.turns.indices {
                try await shrink(count: { $0.turns[turn].count }) { $0.turns[turn].removeSubrange($1) }
            }
        }

        mutating func shrinkSettings() async throws {
            let plain = RandomStore(tables: [])
            try await tries { $0.store.encoding = plain.encoding }
            try await tries { $0.store.autoVacuum = plain.autoVacuum }
            try await tries { $0.store.reservedBytes = 0 }
            try await tries { $0.store.schemaFormat = plain.schemaFormat }
            try await tries { $0.store.pageSize = plain.pageSize }
        }

        mutating func shrink(table: Int) async throws {
            try await shrink(count: { $0.store.tables[table].indexes.count }) {
                $0.store.tables[table].indexes.removeSubrange($1)
            }
            try await shrink(count: { $0.store.tables[table].columns.count }) {
                $0.store.tables[table].removeColumns($1)
            }
            try await shrink(count: { $0.store.tables[table].keys.count }) { $0.store.tables[table].removeRows($1) }
            try await tries { $0.store.tables[table].key = .rowid }
            try await tries { $0.store.tables[table].keys = $0.store.tables[table].keys.indices.map { Int64($0 + 1) } }
            for column in best.store.tables[table].columns.indices {
                for row in best.store.tables[table].columns[column].cells.indices {
                    var isSimpler = true
                    while isSimpler {
                        isSimpler = false
                        for simpler in best.store.tables[table].columns[column].cells[row].simpler where !isSimpler {
                            isSimpler = try await tries { $0.store.tables[table].columns[column].cells[row] = simpler }
                        }
                    }
                }
            }
        }
    }
}

extension RandomTable {
    /// A table of `WITHOUT ROWID`, or of none that holds a value, stays one.
    fileprivate mutating func removeColumns(_ range: Range<Int>) {
        let gone = Set(columns[range].map(\.name))
        guard columns.enumerated().contains(where: { !range.contains($0) && !$1.isGenerated }) else { return }
        added = max(0, added - max(0, range.upperBound - max(range.lowerBound, columns.count - added)))
        columns.removeSubrange(range)
        columns.removeAll { column in column.isGenerated && gone.contains { column.declaration.contains($0.quoted) } }
        added = min(added, columns.count - 1)
        indexes.removeAll { index in index.columns.contains { gone.contains($0) } }
    }

    fileprivate mutating func removeRows(_ range: Range<Int>) {
        keys.removeSubrange(range)
        for column in columns.indices where !columns[column].cells.isEmpty {
            columns[column].cells.removeSubrange(range)
        }
    }
}
