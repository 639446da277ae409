import TestSupport

/// Which changes of a program a power cut could still take, judged by its calls: a name is safe once its folder has been
/// synced after it was made, and a file's bytes and mode once the file has been. Paths are absolute.
struct PendingChanges {
    /// What is there.
    private var known: Set<String>
    /// Made, renamed or linked, and not yet synced in their folder.
    private(set) var names: Set<String> = []
    /// Written or changed in mode, and not yet synced.
    private(set) var files: Set<String> = []

    /// - Parameter known: What is there before the first call, all of it safe.
    init(known: Set<String>) { self.known = known }

    mutating func make(_ call: FaultShim.Call) {
        switch call.name {
        case "mkdir", "mkdirat", "open": add(call.path)
        case "write", "pwrite", "ftruncate", "chmod", "fchmod": files.insert(call.path)
        case "symlink", "symlinkat", "link", "linkat": if let target = call.target { add(target) }
        case "rename", "renameat": if let target = call.target { move(call.path, to: target) }
        case "unlink", "unlinkat", "rmdir": forget(call.path)
        case "fsync", "fdatasync":
            files.remove(call.path)
            names = names.filter { Self.folder(of: $0) != call.path }
        default: break
        }
    }

    /// A call that cannot have worked makes nothing.
    private mutating func add(_ path: String) {
        guard !known.contains(path), known.contains(Self.folder(of: path)) else { return }
        known.insert(path)
        names.insert(path)
    }

    private mutating func move(_ path: String, to target: String) {
        func moved(_ name: String) -> String {
            Self.isIn(name, path) ? target + name.dropFirst(path.count) : name
        }
        (known, names, files) = (Set(known.map(moved)), Set(names.map(moved)), Set(files.map(moved)))
        names.insert(target)
    }

    private mutating func forget(_ path: String) {
        known.remove(path)
        names.remove(path)
        files.remove(path)
    }

    /// Of what these paths lead through, and of what is in them.
    func around(_ paths: [String]) -> [String] {
        names.union(files).filter { name in paths.contains { Self.isIn(name, $0) || Self.isIn($0, name) } }.sorted()
    }

    private static func folder(of path: String) -> String {
        String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
    }

    private static func isIn(_ path: String, _ folder: String) -> Bool {
        path == folder || path.hasPrefix(folder + "/")
    }
}
