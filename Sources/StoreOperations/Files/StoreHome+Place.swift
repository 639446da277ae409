import StoreFiles
package import SystemPackage

extension StoreHome {
    /// The store behind a path that a user gave, or the place for one where nothing is.
    ///
    /// - Throws: `.noSuchStore` if there is no folder for it either, or a symbolic link that leads nowhere; what
    ///   `init(resolving:)` throws.
    package init(placing path: FilePath) throws(OperationError) {
        do throws(OperationError) {
            self = try StoreHome(resolving: path)
        } catch {
            guard case .noSuchStore = error, let name = path.lastComponent, name.kind == .regular,
                (try? PlatformCalls.status(of: path)) == nil
            else { throw error }
            let parent = path.removingLastComponent()
            guard let folder = try? PlatformCalls.realPath(of: parent.isEmpty ? "." : parent) else { throw error }
            self.init(folder.appending(name))
        }
    }
}
