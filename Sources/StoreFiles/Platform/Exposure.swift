package import SystemPackage

/// Why other users may know the content of a file or folder, or may have written it.
package enum Exposure: Hashable, Sendable {
    case ofOtherUser(UInt32)
    case toOthers(FilePermissions)
}

extension FileStatus {
    /// `nil` if only this user has access.
    package var exposure: Exposure? {
        guard owner == PlatformCalls.effectiveUser else { return .ofOtherUser(owner) }
        let others: FilePermissions = [.groupReadWriteExecute, .otherReadWriteExecute]
        return permissions.isDisjoint(with: others) ? nil : .toOthers(permissions)
    }

    /// Whether it is a folder as this program makes them for itself: of this user, and private, whatever bits it has inherited
    /// [mkdir(2), S_ISGID].
    package var isOwnFolder: Bool { kind == .folder && exposure == nil }
}
