import Synchronization
package import SystemPackage

/// A file that comes out of a work: in a hidden folder while it is written, under its own name once it is whole and on the
/// medium. It takes the place of another of its kind in one step, and of nothing else unless that was said.
package final class ResultFile: Sendable {
    private let path: FilePath
    private let replaced: Kind?
    private let partial: OpenFile
    /// Until the file is finished or abandoned.
    private let place: Mutex<TemporaryFolder?>

    /// Files that can be told by how they begin.
    package struct Kind: Sendable {
        let size: Int
        let begins: @Sendable ([UInt8]) -> Bool

        /// - Parameters:
        ///   - size: How many bytes tell it.
        ///   - begins: Is given these, or all that there are.
        package init(tellingBy size: Int, _ begins: @escaping @Sendable ([UInt8]) -> Bool) {
            self.size = size
            self.begins = begins
        }

        package init(beginning start: [UInt8]) { self.init(tellingBy: start.count) { $0 == start } }
    }

    /// Makes the file, for its owner only, in a folder beside `path`, where it also sweeps what killed processes left.
    ///
    /// - Parameter kind: What it may take the place of; `nil` for anything.
    package init(_ path: FilePath, replacing kind: Kind?) throws(FileError) {
        self.path = path
        replaced = kind
        let place = try TemporaryFolder(in: Self.folder(of: path), .besideResults)
        partial = try OpenFile.creating(place.path.appending("result"))
        self.place = Mutex(place)
    }

    /// Whether a file may have that name as things are now.
    package static func mayTake(_ path: FilePath, replacing kind: Kind?) -> Bool {
        guard let kind else { return true }
        return occupant(of: path, kind) != .other
    }

    /// What has the name that the file is to get.
    private enum Occupant: Hashable { case nothing, sameKind, other }

    private static func occupant(of path: FilePath, _ kind: Kind) -> Occupant {
        guard let status = try? PlatformCalls.statusFollowingLinks(of: path) else {
            return (try? PlatformCalls.status(of: path)) == nil ? .nothing : .other
        }
        guard status.kind == .file, let file = try? OpenFile.reading(path),
            let bytes = try? file.read(kind.size, at: 0), kind.begins(bytes)
        else { return .other }
        return .sameKind
    }

    private static func folder(of path: FilePath) -> FilePath {
        let folder = path.removingLastComponent()
        return folder.isEmpty ? "." : folder
    }

    package func write(_ bytes: [UInt8]) throws(FileError) { try partial.write(bytes) }

    /// Gives the file its name; done once, it does nothing more.
    ///
    /// - Returns: `false` if something that must stay has come there while it was written.
    package func finish() throws(FileError) -> Bool {
        guard place.withLock({ $0 != nil }) else { return true }
        try partial.sync()
        guard try takePlace() else { return false }
        abandon()
        try Folder.sync(Self.folder(of: path))
        return true
    }

    private func takePlace() throws(FileError) -> Bool {
        switch replaced.map({ Self.occupant(of: path, $0) }) {
        case .other: return false
        case .nothing:
            do throws(FileError) {
                // Unlike a renaming, it never takes the place of anything.
                try PlatformCalls.hardLink(partial.path, as: path)
            } catch {
                guard error.errno != .fileExists else { return false }
                try PlatformCalls.rename(partial.path, to: path)
            }
        case .sameKind, nil: try PlatformCalls.rename(partial.path, to: path)
        }
        return true
    }

    /// Removes the folder, and what was written unless it is finished.
    package func abandon() {
        place.withLock { $0 = nil }
    }
}
