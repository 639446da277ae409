import CSQLiteHardening
import StoreFiles
import SystemPackage

/// How SQLite is told which settled file to open: one that nobody changes, and without looking at what is beside it.
enum StoreAddress {
    /// Names in a folder that is open, or in that in which this process runs, are taken as they are
    /// (`OpenFolder.pathByDescriptor`, `CheckerProcess`): SQLite would look for a way to them from the root, on which others
    /// may have put something else by now.
    static func of(_ path: FilePath) -> String {
        let address = DatabaseURI.immutable(path)
        let isOpen = path.starts(with: "/proc/self/fd") || path.isRelative && path.components.count == 1
        guard isOpen, let files = ship_store_literal_paths() else { return address }
        return address + "&vfs=" + String(cString: files)
    }
}
