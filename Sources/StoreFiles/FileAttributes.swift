package import SystemPackage

/// Who may use a file: its owner, its group, its mode, and its extended attributes, among which Linux keeps the POSIX ACL [xattr(7),
/// acl(5)]. What takes the place of a file takes its attributes, as far as this process and the file system let it.
package struct FileAttributes: Hashable, Sendable {
    package let owner: UInt32
    package let group: UInt32
    package let permissions: FilePermissions
    /// By their names, with the NUL at the end.
    private let extended: [[CInterop.PlatformChar]: [UInt8]]
}

extension FileAttributes {
    /// Of a file, which is not opened: closing another descriptor would drop the locks that connections of this process hold on it
    /// [sqlite.org/howtocorrupt.html section 2.2].
    package init(of path: FilePath) throws(FileError) {
        let status = try PlatformCalls.status(of: path)
        var permissions = status.permissions.intersection(.everyones)
        // Without the sticky bit others could remove what is in a folder.
        if status.permissions.contains(.saveText) { permissions.subtract([.groupWrite, .otherWrite]) }
        self.init(
            owner: status.owner, group: status.group, permissions: permissions,
            extended: PlatformCalls.extendedAttributes(of: path).filter { !Self.isOfContent($0.key) })
    }

    /// Of a file in a folder, where nothing better is known: whoever may write in the folder, as SQLite has to, may use the file.
    package static func ofFile(in folder: FilePath) throws(FileError) -> FileAttributes {
        let status = try PlatformCalls.statusFollowingLinks(of: folder)
        var permissions = FilePermissions.ownerReadWrite
        // In a sticky folder everybody has files of their own.
        if !status.permissions.contains(.saveText) {
            if status.permissions.contains(.groupWrite) { permissions.formUnion(.groupReadWrite) }
            if status.permissions.contains(.otherWrite) { permissions.formUnion(.otherReadWrite) }
        }
        return FileAttributes(owner: status.owner, group: status.group, permissions: permissions, extended: [:])
    }

    /// Of a folder with such files in it: whoever may read them may enter it, and whoever may write to them may put others there.
    package var ofFolder: FileAttributes {
        var permissions = permissions.union(.ownerReadWriteExecute)
        if permissions.contains(.groupRead) { permissions.insert(.groupExecute) }
        if permissions.contains(.otherRead) { permissions.insert(.otherExecute) }
        return FileAttributes(
            owner: owner, group: group, permissions: permissions,
            extended: extended.filter { $0.key == Self.acl }.mapValues { acl in
                Self.changing(acl) { _, permissions in permissions & 4 == 0 ? permissions : permissions | 1 }
            })
    }

    /// Of a file that never changes, for the same users.
    package var ofKeptFile: FileAttributes {
        FileAttributes(
            owner: owner, group: group,
            permissions: permissions.intersection([.ownerRead, .groupRead, .otherRead]).union(.ownerRead),
            extended: extended)
    }

    /// Whether a file is already there for the users that it would be given to.
    package func serves(as status: FileStatus) -> Bool {
        status.owner == owner && status.group == group && status.permissions == permissions
    }

    /// Gives them to a file or a folder that this process has made: all that can be given.
    ///
    /// - Throws: If there is no room for them, or the disk fails.
    package func give(to file: borrowing OpenFile) throws(FileError) {
        let (descriptor, path) = (file.descriptor, file.path)
        // Who is not root may give a file to a group of his at most [chown(2)].
        let isOwned = try Self.asFarAsAllowed { () throws(FileError) in
            try PlatformCalls.changeOwner(of: descriptor, path, to: owner, group: group)
        }
        if !isOwned {
            _ = try Self.asFarAsAllowed { () throws(FileError) in
                try PlatformCalls.changeOwner(of: descriptor, path, to: nil, group: group)
            }
        }
        // What the group may do, another one may not.
        let isOfGroup = try file.status.group == group
        // A folder's default ACL gives one to what is made in it.
        var extended = extended.mapValues(Optional.some)
        extended.updateValue(
            self.extended[Self.acl].map { acl in
                isOfGroup ? acl : Self.changing(acl) { tag, permissions in tag == Self.owningGroup ? 0 : permissions }
            }, forKey: Self.acl)
        for (name, value) in extended {
            _ = try Self.asFarAsAllowed { () throws(FileError) in
                try PlatformCalls.setExtendedAttribute(name, of: descriptor, path, to: value)
            }
        }
        // With an ACL the bits of the group are its mask.
        let keepsGroup = isOfGroup || self.extended[Self.acl] != nil
        try file.changeMode(to: keepsGroup ? permissions : permissions.subtracting(.groupReadWriteExecute))
    }

    /// The same for what has just been made at a path.
    package func give(to path: FilePath) throws(FileError) {
        try give(to: try OpenFile.readingWithoutFollowing(path))
    }

    /// - Returns: Whether it was done. Not all file systems have owners, modes or attributes, and not everybody may change each of them.
    private static func asFarAsAllowed(_ body: () throws(FileError) -> Void) throws(FileError) -> Bool {
        do throws(FileError) {
            try body()
            return true
        } catch {
            guard !error.isOutOfSpace, error.errno != .ioError else { throw error }
            return false
        }
    }

    private static let acl = name("system.posix_acl_access")
    /// The tag of the entry of the group that owns the file [linux/posix_acl.h].
    private static let owningGroup: UInt8 = 4

    private static func name(_ text: String) -> [CInterop.PlatformChar] {
        text.utf8.map { CInterop.PlatformChar(bitPattern: $0) } + [0]
    }

    /// Whether an attribute is about the bytes of the one file: a digest, or what they may do as a program.
    private static func isOfContent(_ name: [CInterop.PlatformChar]) -> Bool {
        ["security.ima", "security.evm", "security.capability"].contains { self.name($0) == name }
    }

    /// An ACL in which each entry has other permissions: after four bytes of version, entries of eight begin with their tag and their
    /// permissions, both in two bytes, the lower first [linux/posix_acl_xattr.h].
    private static func changing(_ acl: [UInt8], _ change: (_ tag: UInt8, _ permissions: UInt8) -> UInt8) -> [UInt8] {
        var acl = acl
        for entry in stride(from: 4, to: acl.count - 7, by: 8) { acl[entry + 2] = change(acl[entry], acl[entry + 2]) }
        return acl
    }
}

extension FilePermissions {
    /// Without those that give a program the rights of another user, and the sticky bit.
    fileprivate static let everyones: FilePermissions = [
        .ownerReadWriteExecute, .groupReadWriteExecute, .otherReadWriteExecute,
    ]
}
