import SystemPackage

/// Symbolic links as path_resolution(7) follows them.
enum SymbolicLinks {
    /// Linux follows no more of them.
    private static let most = 40

    /// The places of the links that a path leads through, the last component's too, and of what it leads to, which need not be there; each
    /// without links in its own folders.
    static func way(of path: FilePath) -> [FilePath] {
        var (links, place) = ([FilePath](), FilePath(root: path.root, []))
        var rest = Array(path.components.reversed())
        while let component = rest.popLast() {
            let next = place.appending(component)
            if let target = try? PlatformCalls.targetOfSymbolicLink(at: next) {
                links.append(next)
                guard links.count < most else { break }
                if target.isAbsolute { place = FilePath(root: target.root, []) }
                rest += target.components.reversed()
            } else if component.kind == .parentDirectory, place.lastComponent.map({ $0.kind == .regular }) ?? false {
                place.removeLastComponent()
            } else {
                place = next
            }
        }
        return links + [place]
    }
}
