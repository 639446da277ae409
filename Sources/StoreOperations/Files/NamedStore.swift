package import StoreFiles
package import SystemPackage

/// A store as a user has named it: perhaps by a symbolic link, which would lead nowhere once the store is gone.
package struct NamedStore: Sendable {
    /// Where the store is, or would be: without symbolic links.
    package let home: StoreHome
    /// From the one that the user named to the one that leads to the store.
    package let links: [(path: FilePath, target: FilePath)]

    /// As many as the kernel follows [path_resolution(7)].
    private static let mostLinks = 40

    /// - Throws: Where it cannot be told where the path leads.
    package init(_ path: FilePath) throws(FileError) {
        var (place, links): (FilePath, [(path: FilePath, target: FilePath)]) = (path, [])
        while links.count < Self.mostLinks, try PlatformCalls.statusIfThere(of: place)?.kind == .symbolicLink {
            let target = try PlatformCalls.targetOfSymbolicLink(at: place)
            links.append((place, target))
            place = target.isAbsolute ? target : place.removingLastComponent().pushing(target)
        }
        let folder = Folder.parent(of: place)
        let real = try FileError.unlessAbsent { () throws(FileError) in try PlatformCalls.realPath(of: folder) }
        if let name = place.lastComponent, let real { place = real.appending(name) }
        home = StoreHome(place)
        self.links = links
    }

    /// Removes the links that still lead where they led.
    ///
    /// - Returns: Those that are gone.
    package func removeLinks() -> [FilePath] {
        links.filter { link in
            (try? PlatformCalls.targetOfSymbolicLink(at: link.path)) == link.target
                && (try? PlatformCalls.removeFile(link.path)) != nil
        }.map { link in
            try? Folder.sync(Folder.parent(of: link.path))
            return link.path
        }
    }
}
