package import SystemPackage

/// Why others than this user may know what is in a file or a folder, or may have written it.
package enum Exposure: Hashable, Sendable {
    case ofOtherUser(UInt32)
    case toOthers(FilePermissions)
}

extension FileStatus {
    /// `nil` for what is its user's alone.
    package var exposure: Exposure? {
        guard owner == PlatformCalls.effectiveUser else { return .ofOtherUser(owner) }
        let others: FilePermissions = [.groupReadWriteExecute, .otherReadWriteExecute]
        return permissions.isDisjoint(with: others) ? nil : .toOthers(permissions)
    }
}
