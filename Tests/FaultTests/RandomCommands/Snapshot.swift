import Foundation
import StoreFiles
import SystemPackage

/// Paths as snapshots have them: relative, with `/` between their names.
enum Names {
    /// - Returns: Empty for what lies in the desk itself.
    static func folder(of path: String) -> String { path.split(separator: "/").dropLast().joined(separator: "/") }
    /// A copy has an extension, whatever it was to be called.
    static func ofCopy(_ name: String) -> String { name.contains(".") ? name : name + ".sqlite" }
    static func last(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }
}

/// Every byte below a folder, by its path in it.
struct Snapshot {
    enum Entry: Equatable {
        case folder, other
        case file(Data)
        /// And where it leads, as it says itself.
        case link(String)
    }

    private(set) var entries: [String: Entry] = [:]

    /// Without what is nobody's data: the private folders in which programs work, which are swept when they were killed, and
    /// the indexes of logs, which SQLite makes anew.
    init(of root: FilePath) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: root.string)
        where !name.hasSuffix("-shm") && !Self.isPrivate(name) {
            let path = root.pushing(FilePath(name))
            entries[name] =
                switch try PlatformCalls.status(of: path).kind {
                case .folder: .folder
                case .file: .file(try Data(contentsOf: URL(fileURLWithPath: path.string)))
                case .symbolicLink: .link(try PlatformCalls.targetOfSymbolicLink(at: path).string)
                case .pipe, .socket, .characterDevice, .other: .other
                }
        }
    }

    private static func isPrivate(_ name: String) -> Bool {
        name.split(separator: "/").contains { $0.hasPrefix(".ship-store-") || $0.hasPrefix(".forgotten-") }
    }

    subscript(path: String) -> Entry? { entries[path] }

    func bytes(of path: String) -> Data? {
        guard case .file(let bytes) = entries[path] else { return nil }
        return bytes
    }

    /// The names in a folder.
    func names(in folder: String) -> [String] {
        entries.keys.filter { Names.folder(of: $0) == folder }
            .map { Names.last(of: $0) }.sorted()
    }

    /// What is not as it was, and what was not there. A folder that is gone is nothing lost: what was in it speaks for itself.
    func differences(since before: Snapshot) -> (lost: [String], new: [String]) {
        (
            lost: before.entries.filter { name, entry in
                entries[name] != entry && !(entry == .folder && entries[name] == nil)
            }.keys.sorted(),
            new: entries.keys.filter { before[$0] == nil }.sorted()
        )
    }
}
