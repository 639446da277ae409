import StoreFormat

/// Finds the tree of the base that a tree of the result is made of: that of the same name, or the one whose rows have most in common with
/// its first ones, for a table that was renamed, or made anew under another name.
///
/// Memory: the definitions of all trees; once a tree is looked for by its rows, up to 100,000 numbers, or six for each tree
/// of the base.
final class BaseTrees {
    /// Rows of a tree of the result, and of the base, that are compared. The first may have gone.
    private static let (newRows, baseRows) = (64, 256)
    /// Most tables without a namesake that are looked at for each table.
    private static let mostGone = 16
    /// Rows of each tree that are noted for the search among all, and about how many of all trees together.
    private static let (notedRows, notedInAll) = (32, 16_384)
    /// Most trees with one key: a key of more tells nothing.
    private static let mostOfKey = 8

    private let base: DeltaStore
    private let new: DeltaStore
    /// Of the trees of the base, by their names.
    private let places: (tables: [[UInt8]: Int], indexes: [[UInt8]: Int])
    /// By the places of the trees.
    private let definitions: (base: [TreeDefinition], new: [TreeDefinition])
    /// The tables of the base without a namesake in the result.
    private lazy var gone = {
        let kept = Set(new.trees.lazy.filter(\.isTable).map(\.name))
        return places.tables.filter { !kept.contains($0.key) }.values.sorted().prefix(Self.mostGone)
            .map { TreeSource(place: $0, isNamed: false) }
    }()
    /// The trees of the base that hold something, by its hash.
    private lazy var holders = Result { try findHolders() }

    init(_ base: DeltaStore, _ new: DeltaStore) throws {
        self.base = base
        self.new = new
        places = base.places(like: new.settings)
        definitions = (try TreeDefinition.all(in: base), try TreeDefinition.all(in: new))
    }

    /// The tree of the same name and the same kind.
    func named(_ tree: Int) throws -> TreeSource? {
        guard tree > 0 else { return TreeSource(place: 0, isNamed: true) }
        let named = new.trees[tree].isTable ? places.tables : places.indexes
        guard let place = named[new.trees[tree].name], try base.kind(of: place) == new.kind(of: tree) else {
            return nil
        }
        return TreeSource(place: place, isNamed: true)
    }

    /// Whether the schema says something else of a tree than of its source, beside the name.
    func isRedefined(_ tree: Int, from source: TreeSource) -> Bool {
        tree > 0 && definitions.new[tree].content != definitions.base[source.place].content
    }

    /// The source whose rows have most in common with those of a tree.
    ///
    /// - Parameter named: The one of the same name. It stays if no other has more in common.
    func resembling(_ tree: Int, _ named: TreeSource?) throws -> TreeSource? {
        guard tree > 0 else { return named }
        let sample = try TreeSample(try new.rows(of: tree), most: Self.newRows)
        guard !sample.rows.isEmpty else { return named }
        let kind = try new.kind(of: tree)
        let likely =
            try named.map { [$0] }
            ?? (new.trees[tree].isTable ? gone.filter { try base.kind(of: $0.place) == kind } : [])
        let samples = try likely.map { try self.sample(of: $0.place, near: sample) }
        let likeness = samples.map { sample.likeness(to: $0) }
        if let best = likely.indices.max(by: { likeness[$0] < likeness[$1] }), likeness[best] >= 0.5 {
            return mapped(likely[best], tree, sample, samples[best])
        }
        guard let place = try mostLike(sample, tree, named), place != named?.place else {
            return named.map { mapped($0, tree, sample, samples[0]) }
        }
        return mapped(
            TreeSource(place: place, isNamed: false), tree, sample, try self.sample(of: place, near: sample))
    }

    /// The first rows of a tree of the base, and of a table those from the first rowid of another sample on: rows before it may have gone.
    private func sample(of place: Int, near sample: TreeSample) throws -> TreeSample {
        let rows = try base.rows(of: place, like: new.settings)
        return try TreeSample(rows, most: Self.baseRows, andFromRowid: sample.rows.first?.rowid)
    }

    private func mapped(_ source: TreeSource, _ tree: Int, _ sample: TreeSample, _ before: TreeSample) -> TreeSource {
        var source = source
        let names =
            new.trees[tree].isTable ? (definitions.base[source.place].columns, definitions.new[tree].columns) : ([], [])
        source.columns = ColumnAlignment(sample.pairs(with: before), names: names)?.columns
        return source
    }

    // MARK: The search among all trees

    private func findHolders() throws -> [UInt64: [Int]] {
        var holders: [UInt64: [Int]] = [:]
        let most = max(1, min(Self.notedRows, Self.notedInAll / base.trees.count))
        for place in base.trees.indices.dropFirst() {
            let sample = try TreeSample(try base.rows(of: place, like: new.settings), most: most)
            for key in sample.keys.union([definitions.base[place].hash]) {
                holders[key, default: []].append(place)
            }
        }
        return holders.filter { $0.value.count <= Self.mostOfKey }
    }

    /// The place of the tree of the base with most keys in common; of several that of the same name, or the nearest one.
    private func mostLike(_ sample: TreeSample, _ tree: Int, _ named: TreeSource?) throws -> Int? {
        let holders = try holders.get()
        var counts: [Int: Int] = [:]
        for key in sample.keys.union([definitions.new[tree].hash]) {
            for place in holders[key] ?? [] { counts[place, default: 0] += 1 }
        }
        let kind = try new.kind(of: tree)
        func isBetter(_ left: (key: Int, value: Int), _ right: (key: Int, value: Int)) -> Bool {
            func distance(_ place: Int) -> Int { place == named?.place ? -1 : abs(place - tree) }
            return (right.value, distance(left.key), left.key) < (left.value, distance(right.key), right.key)
        }
        return try counts.sorted(by: isBetter).first {
            try base.trees[$0.key].isTable == new.trees[tree].isTable && base.kind(of: $0.key) == kind
        }?.key
    }
}

/// The schema's definition of a tree.
private struct TreeDefinition {
    /// The words after the name: from the first parenthesis on. Empty for an index that SQLite makes by itself.
    private(set) var content: [UInt8] = []
    private let textEncoding: UInt32

    var hash: UInt64 { content.withUnsafeBytes { $0.keyedHash } }

    /// By the places of the trees, that of `sqlite_schema` with nothing.
    static func all(in store: DeltaStore) throws -> [TreeDefinition] {
        let encoding = store.settings.textEncoding
        var all = [TreeDefinition(textEncoding: encoding)]
        var rows = try store.rows(of: 0)
        var row = DeltaRow()
        while try rows.next(&row) {
            guard let record = SchemaRow(row.record.span), record.root != 0 else { continue }
            let words = DeltaValue.values(of: row.record)?.last?.string ?? []
            let start = words.firstIndex(of: UInt8(ascii: "(")) ?? words.endIndex
            all.append(TreeDefinition(content: Array(words[start...]), textEncoding: encoding))
        }
        return all
    }

    /// The names of the columns of a table, and after them what begins the constraints of the table.
    var columns: [String] {
        // In UTF-16 the parenthesis may be the second byte of its unit.
        let bytes = textEncoding == 3 ? [0] + content : content
        guard let words = String(bytes: bytes[...], textEncoding: textEncoding) else { return [] }
        return StatementParts(words)?.all.map { $0.first?.lowercased() ?? "" } ?? []
    }
}
