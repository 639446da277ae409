import Synchronization
package import SystemPackage

/// A result file of a command. It is in a hidden folder while it is written, and gets its name once it is complete and on the medium. It
/// replaces another file of its kind in one step, and any other file only if the caller allows that.
package final class ResultFile: Sendable {
    private let path: FilePath
    private let replaced: Kind?
    private let partial: OpenFile
    /// `nil` once the file is finished or abandoned.
    private let place: Mutex<TemporaryFolder?>

    /// A kind of files that have a known beginning.
    package struct Kind: Sendable {
        let size: Int
        let begins: @Sendable ([UInt8]) -> Bool

        /// - Parameters:
        ///   - size: How many bytes identify it.
        ///   - begins: Gets these bytes, or all of a shorter file.
        package init(tellingBy size: Int, _ begins: @escaping @Sendable ([UInt8]) -> Bool) {
            self.size = size
            self.begins = begins
        }

        package init(beginning start: [UInt8]) { self.init(tellingBy: start.count) { $0 == start } }
    }

    /// Makes the file, for its owner only, in a folder beside `path`, where it also sweeps away what killed processes left.
    ///
    /// - Parameter kind: The kind of file that it may replace; `nil` for any file, and no folder, device or pipe.
    package init(_ path: FilePath, replacing kind: Kind?) throws(FileError) {
        self.path = path
        replaced = kind
        let place = try TemporaryFolder(in: Folder.parent(of: path), .besideResults)
        partial = try OpenFile.creating(place.path.appending("result"))
        self.place = Mutex(place)
    }

    /// Whether a file may have that name now.
    package static func mayTake(_ path: FilePath, replacing kind: Kind?) -> Bool { holds(kind, at: path) != false }

    /// Whether what has the file's future name is a file of a kind, or a link that leads nowhere if any will do.
    ///
    /// - Returns: `nil` if nothing has the name.
    private static func holds(_ kind: Kind?, at path: FilePath) -> Bool? {
        guard let status = try? PlatformCalls.statusFollowingLinks(of: path) else {
            return (try? PlatformCalls.status(of: path)) == nil ? nil : kind == nil
        }
        guard status.kind == .file else { return false }
        guard let kind else { return true }
        guard let file = try? OpenFile.reading(path), let bytes = try? file.read(kind.size, at: 0) else { return false }
        return kind.begins(bytes)
    }

    package func write(_ bytes: [UInt8]) throws(FileError) { try partial.write(bytes) }

    /// Gives the file its name; the second call does nothing.
    ///
    /// - Returns: `false` if something that must stay has got the name meanwhile.
    package func finish() throws(FileError) -> Bool {
        guard place.withLock({ $0 != nil }) else { return true }
        // It takes the place of the file, whatever links lead there.
        if let real = try? PlatformCalls.realPath(of: path), (try? PlatformCalls.status(of: real))?.kind == .file {
            try FileAttributes(of: real).give(to: partial)
        }
        try partial.sync()
        guard try takePlace() else { return false }
        abandon()
        try Folder.sync(Folder.parent(of: path))
        return true
    }

    private func takePlace() throws(FileError) -> Bool {
        let isReplaceable = Self.holds(replaced, at: path)
        if replaced != nil, isReplaceable == nil {
            return try FileError.isDone(unless: [.fileExists]) { () throws(FileError) in
                try PlatformCalls.place(partial.path, atFree: path)
            }
        }
        guard isReplaceable != false else { return false }
        try PlatformCalls.rename(partial.path, to: path)
        return true
    }

    /// Removes the hidden folder, with the file unless it is finished.
    package func abandon() {
        place.withLock { $0 = nil }
    }
}
