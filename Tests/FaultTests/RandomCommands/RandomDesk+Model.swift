import Foundation
import StoreFiles
import SystemPackage

/// What a command may touch. All else has to be as it was, byte for byte.
struct Touch {
    /// What may change, or go.
    var paths: Set<String> = []
    /// Folders in which all may change, or go.
    var folders: Set<String> = []
    /// Folders in which there may be something new.
    var newIn: Set<String> = []

    func allows(_ path: String) -> Bool {
        paths.contains(path) || folders.contains { path == $0 || path.hasPrefix($0 + "/") }
    }

    func allowsNew(_ path: String) -> Bool {
        allows(path)
            || newIn.contains {
                $0.isEmpty || path == $0 || path.hasPrefix($0 + "/") || ($0 + "/").hasPrefix(path + "/")
            }
    }
}

/// The rules of ownership, as a user would state them.
extension RandomDesk {
    /// Where a path leads, as a path from the desk; `nil` if nothing is there, or if it leads out of the desk.
    func resolve(_ name: String) -> String? {
        guard let real = try? PlatformCalls.realPath(of: at(name)).string, real.hasPrefix(path.string + "/") else {
            return nil
        }
        return String(real.dropFirst(path.string.utf8.count + 1))
    }

    /// Whether a path is inside an inbox or a kept copy: nothing but their own commands changes anything there.
    func isKept(_ path: String, in snapshot: Snapshot) -> Bool {
        var folder = Names.folder(of: path)
        while !folder.isEmpty {
            if snapshot[folder + "/manifest.json"] != nil || folder.hasSuffix("/.ship-store") { return true }
            folder = Names.folder(of: folder)
        }
        return false
    }

    /// The live stores, and what looks like one.
    func stores(in snapshot: Snapshot) -> [String] {
        let magic = Data("SQLite format 3\0".utf8)
        return snapshot.entries.keys.filter { name in
            snapshot.bytes(of: name).map { $0.starts(with: magic) || damaged.contains(name) } == true
                && !isKept(name, in: snapshot)
        }.sorted()
    }

    /// The external files that a state of a store refers to, as paths from the desk.
    func files(of state: StoreState, at store: String) -> Set<String> {
        let support = StorePaths(store).support
        return Set(state.references.map { "\(resolve(support) ?? support)/\($0)" })
    }

    /// A store has: its file, its sidecars, and the external files that its own rows refer to, or once did, and that the rows
    /// of no other store of its stem do. If those of a neighbour cannot be read, it has no external files.
    /// Through a link in the place of its support folder it has none either: what that leads to may be another's.
    ///
    /// - Parameter others: Stores that another command of the same time may remove before.
    func belongings(of name: String, in snapshot: Snapshot, besides others: Set<String> = []) -> Set<String> {
        guard let store = resolve(name) else { return unfinished[name] ?? [] }
        guard snapshot.bytes(of: store) != nil, !isKept(store, in: snapshot) else { return [] }
        let paths = StorePaths(store)
        var own = Set([store, name, paths.note] + paths.sidecars)
        guard reader.state(of: store, in: snapshot) != nil, !isLinked(store, in: snapshot) else {
            return own.union(unfinished[store] ?? [])
        }
        var files = history[store] ?? []
        for neighbour in stores(in: snapshot)
        where neighbour != store && !others.contains(neighbour) && StorePaths(neighbour).support == paths.support {
            guard let state = reader.state(of: neighbour, in: snapshot) else { return own }
            files.subtract(self.files(of: state, at: neighbour))
        }
        own.formUnion(files)
        return own.union(unfinished[store] ?? [])
    }

    /// Whether a symbolic link is in the place of a store's support folder.
    func isLinked(_ store: String, in snapshot: Snapshot) -> Bool {
        if case .link = snapshot[StorePaths(store).support] { true } else { false }
    }

    /// The store itself, for what writes rows.
    func fileOf(_ name: String, in snapshot: Snapshot) -> Set<String> {
        guard let store = resolve(name), !isKept(store, in: snapshot) else { return [] }
        return Set([store] + StorePaths(store).sidecars)
    }

    /// Of each store the newest copies stay, as many as were said, of those that the pruning is about.
    ///
    /// - Parameter coming: How many of a store another command of the same time may keep.
    func mustStay(in folder: String, keeping count: Int, tag: String?, coming: Int) -> Set<String> {
        let candidates = copies.filter { copy in
            Names.folder(of: copy.path) == folder
                && (tag.map { copy.tags.contains($0) } ?? copy.tags.isEmpty)
        }
        let newest = Dictionary(grouping: candidates, by: \.store).values.flatMap { $0.suffix(max(0, count - coming)) }
        return Set(newest.map(\.path))
    }

    /// Notes kept copies that have come.
    ///
    /// - Parameter store: Of which the command was to keep one.
    func noteCopies(of store: String, in snapshot: Snapshot) {
        let known = Set(copies.map(\.path))
        for manifest in snapshot.entries.keys.sorted() where manifest.hasSuffix("/manifest.json") {
            let path = Names.folder(of: manifest)
            guard !known.contains(path), !path.contains("/.ship-store/"), let bytes = snapshot.bytes(of: manifest),
                let facts = try? JSONSerialization.jsonObject(with: bytes) as? [String: Any]
            else { continue }
            let record = Record(bytes: snapshot.bytes(of: path + "/copy.json"))
            let original = record.store(on: self) ?? resolve(store) ?? store
            let pairs = facts["metadata"] as? [String: String] ?? [:]
            let tags = pairs.keys.filter { $0.hasPrefix("tag.") }.map { String($0.dropFirst(4)) }
            copies.append(
                KeptFolder(
                    path: path, store: facts["identity"] as? String ?? original, tags: Set(tags),
                    number: record.number))
        }
        copies.removeAll { snapshot[$0.path] == nil }
        copies.sort { ($0.number, $0.path) < ($1.number, $1.path) }
    }

    /// What a kept copy remembers beside its manifest.
    private struct Record {
        private let members: [String: Any]

        init(bytes: Data?) {
            members = bytes.flatMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] } ?? [:]
        }

        var number: Int { members["number"] as? Int ?? 0 }

        /// Where the store was, from the desk.
        func store(on desk: RandomDesk) -> String? {
            guard let store = members["store"] as? String, store.hasPrefix(desk.path.string + "/") else { return nil }
            return String(store.dropFirst(desk.path.string.utf8.count + 1))
        }
    }
}
