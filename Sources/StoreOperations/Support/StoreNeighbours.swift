package import StoreFiles
package import SystemPackage

/// The other files beside a store that share its stem, and with it the folder of external files: Core Data calls that
/// `.<stem>_SUPPORT`, whatever the extension.
package struct StoreNeighbours: Sendable {
    /// Of files that may be stores; a symbolic link stands for what it leads to, or for itself if it leads nowhere.
    package let paths: [FilePath]
    /// Other names of the store's own file: what it refers to, they refer to.
    package let otherNames: [FilePath]

    /// - Throws: If the folder cannot be listed. One that is not there has nothing in it.
    package init(of home: StoreHome) throws(FileError) {
        let names: [FilePath.Component]
        do throws(FileError) {
            names = try OpenFolder(following: home.folder).components(in: home.folder)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            names = []
        }
        let own = try? PlatformCalls.status(of: home.path).identity
        var (paths, otherNames): ([FilePath], [FilePath]) = ([], [])
        for name in names where name.stem == home.path.stem && name != home.path.lastComponent {
            guard !Self.isSidecar(name, among: names, of: home) else { continue }
            var path = home.folder.appending(name)
            guard var status = try? PlatformCalls.status(of: path) else { continue }
            if status.kind == .symbolicLink, let real = try? PlatformCalls.realPath(of: path) {
                // A link to the store itself says nothing new.
                guard let target = try? PlatformCalls.status(of: real), target.identity != own else { continue }
                (path, status) = (real, target)
            }
            switch status.kind {
            case .file where status.identity == own: otherNames.append(path)
            case .file, .symbolicLink: paths.append(path)
            case .folder, .pipe, .socket, .characterDevice, .other: continue
            }
        }
        self.paths = paths.sorted { $0.string < $1.string }
        self.otherNames = otherNames
    }

    /// What SQLite keeps beside another file is no store, unless it begins as one.
    private static func isSidecar(
        _ name: FilePath.Component, among names: [FilePath.Component], of home: StoreHome
    ) -> Bool {
        let isCalledSo = StoreHome.sidecarEndings.contains { ending in
            guard name.string.hasSuffix(ending),
                let store = FilePath.Component(String(name.string.dropLast(ending.count)))
            else { return false }
            return store == home.path.lastComponent || names.contains(store)
        }
        return isCalledSo && !StoreHome.beginsAsStore(home.folder.appending(name))
    }
}
