package import SystemPackage

/// Why other users may know the content of a file or folder, or may have written it.
package enum Exposure: Hashable, Sendable {
    case ofOtherUser(UInt32)
    case toOthers(FilePermissions)
}
