import SystemPackage

/// Symbolic links as path_resolution(7) follows them.
enum SymbolicLinks {
    /// Linux follows no more of them.
    private static let most = 40

    /// The places of the links that a path leads through, the last component's too, and of what it leads to, or else of the first component
    /// that is not there; each without links in its own folders. Who goes on from one that is not there may follow what has come meanwhile.
    static func way(of path: FilePath) -> [FilePath] {
        var (links, place) = ([FilePath](), FilePath(root: path.root, []))
        var rest = Array(path.components.reversed())
        while let component = rest.popLast() {
            let next = place.appending(component)
            let found = Result { () throws(FileError) in try PlatformCalls.targetOfSymbolicLink(at: next) }
            if case .success(let target) = found {
                links.append(next)
                guard links.count < most else { break }
                if target.isAbsolute { place = FilePath(root: target.root, []) }
                rest += target.components.reversed()
            } else if case .failure(let error) = found, error.errno == .noSuchFileOrDirectory {
                return links + [next]
            } else if component.kind == .parentDirectory, place.lastComponent.map({ $0.kind == .regular }) ?? false {
                place.removeLastComponent()
            } else {
                place = next
            }
        }
        return links + [place]
    }
}
