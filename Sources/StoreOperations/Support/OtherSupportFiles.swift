import ShipProtocol
package import StoreFiles
package import SystemPackage

/// The files of a support folder that no row can refer to: their names are no UUIDs, or they lie in other folders. They move with
/// their store.
package struct OtherSupportFiles: Sendable {
    private let source: SupportFolder
    private let target: SupportFolder
    /// Paths in the folder; regular files only.
    private let places: [FilePath]

    package init(of source: SupportFolder, to target: SupportFolder) throws(FileError) {
        self.source = source
        self.target = target
        var places: [FilePath] = []
        for place in try source.content() where SupportFolder.name(of: place) == nil {
            let status = try PlatformCalls.statusIfThere(of: source.path.appending(place.components))
            if status?.kind == .file { places.append(place) }
        }
        self.places = places
    }

    package var areNone: Bool { places.isEmpty }

    /// Bytes of them all.
    package var size: Int64 {
        places.reduce(0) { $0 + ((try? PlatformCalls.status(of: source.path.appending($1.components)))?.size ?? 0) }
    }

    /// What was put at the new place, and the folders that were made for it, the innermost first.
    package struct Carried: Sendable {
        fileprivate var files: [FilePath] = []
        fileprivate var folders: [FilePath] = []
    }

    /// Puts those that are not at the new place there, durably, each in one step; nothing is replaced.
    ///
    /// - Throws: `.occupied` if something else has one's name, `.linkedSupportFolder`; what was put there before is gone again.
    package func carry() throws(OperationError) -> Carried {
        var carried = Carried()
        guard !places.isEmpty else { return carried }
        try target.refuseIfLinked()
        do throws(OperationError) {
            try OperationError.wrapping { () throws(FileError) in
                try Folder.make(target.path, with: try FileAttributes(of: source.path), noting: &carried.folders)
            }
            let staging = try OperationError.wrapping { () throws(FileError) in
                try TemporaryFolder(in: target.path.removingLastComponent(), .besideResults)
            }
            for (index, place) in places.enumerated() where try !isThere(place) {
                try OperationError.wrapping { () throws(FileError) in
                    let (from, to) = paths(of: place)
                    let staged = staging.path.appending("\(index)")
                    try OpenFile.copy(from, to: staged, attributes: try FileAttributes(of: from))
                    try Folder.make(
                        to.removingLastComponent(), with: try FileAttributes(of: from.removingLastComponent()),
                        noting: &carried.folders)
                    try PlatformCalls.place(staged, atFree: to)
                    carried.files.append(place)
                    try Folder.sync(to.removingLastComponent())
                }
            }
        } catch {
            takeBack(carried)
            throw error
        }
        return carried
    }

    /// Removes what `carry` has put there.
    package func takeBack(_ carried: Carried) { try? target.removeForGood(carried.files, with: carried.folders) }

    /// Those that are at the new place, byte by byte.
    package func arrived() throws(OperationError) -> [FilePath] {
        var arrived: [FilePath] = []
        for place in places where try isThere(place) { arrived.append(place) }
        return arrived
    }

    private func paths(of place: FilePath) -> (from: FilePath, to: FilePath) {
        (source.path.appending(place.components), target.path.appending(place.components))
    }

    /// - Throws: `.occupied` if something else has its name.
    private func isThere(_ place: FilePath) throws(OperationError) -> Bool {
        let (from, to) = paths(of: place)
        let status = try OperationError.wrapping { () throws(FileError) in try PlatformCalls.statusIfThere(of: to) }
        guard let status else { return false }
        let isSame = try OperationError.wrapping { () throws(FileError) in
            guard status.kind == .file else { return false }
            return try ContentDigest(ofFile: from) == ContentDigest(ofFile: to)
        }
        guard isSame else { throw .occupied(to) }
        return true
    }
}
