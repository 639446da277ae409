package import EssentialFoundation
import StoreFiles
import SystemPackage

extension Generation {
    /// When it was installed, by this device's clock: nothing has been put into its folder since.
    ///
    /// - Returns: `nil` if the folder is gone.
    package var installedAt: Date? {
        (try? PlatformCalls.status(of: path)).map { Date(timeIntervalSince1970: $0.modified / .seconds(1)) }
    }

    /// Whether a reader holds it, here or in another process, so that it is not pruned.
    ///
    /// To ask is to take the lock for an instant, and to give it back.
    ///
    /// - Returns: `nil` if that cannot be told.
    package var isHeld: Bool? {
        do throws(FileError) {
            return try FolderLock.take(.exclusive, on: path) == nil
        } catch {
            return nil
        }
    }
}
