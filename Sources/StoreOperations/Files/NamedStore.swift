import ShipProtocol
import StoreFiles
package import SystemPackage

/// A store as a user has named it: perhaps by a symbolic link, which would lead nowhere once the store is gone.
package struct NamedStore: Sendable {
    /// Where the store is, or would be: without symbolic links.
    package let home: StoreHome
    /// From the one that the user named to the one that leads to the store.
    package let links: [(path: FilePath, target: FilePath)]

    /// As many as the kernel follows [path_resolution(7)].
    private static let mostLinks = 40

    package init(_ path: FilePath) {
        var (place, links): (FilePath, [(path: FilePath, target: FilePath)]) = (path, [])
        while links.count < Self.mostLinks, (try? PlatformCalls.status(of: place))?.kind == .symbolicLink,
            let target = try? PlatformCalls.targetOfSymbolicLink(at: place)
        {
            links.append((place, target))
            place = target.isAbsolute ? target : place.removingLastComponent().pushing(target)
        }
        let folder = place.removingLastComponent()
        if let name = place.lastComponent, let real = try? PlatformCalls.realPath(of: folder.isEmpty ? "." : folder) {
            place = real.appending(name)
        }
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
            let folder = link.path.removingLastComponent()
            try? Folder.sync(folder.isEmpty ? "." : folder)
            return link.path
        }
    }
}
