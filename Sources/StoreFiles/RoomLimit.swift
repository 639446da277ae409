import ShipProtocol
package import SystemPackage

/// Why a file could not grow, or be made, for want of room.
public enum RoomLimit: Hashable, Sendable {
    /// The disk has no bytes left.
    case disk
    /// The disk can hold no more files, though bytes are left.
    case fileCount
    /// The user's quota is used up.
    case quota
    /// A file may have no more bytes than these: the limit of this process; `nil` where it is that of the file system.
    case fileSize(Int64?)

    /// - Parameters:
    ///   - errno: What a call has said [write(2), open(2), setrlimit(2)].
    ///   - makesFile: Whether the call was to make a file, and not to write to one.
    ///   - place: Where.
    /// - Returns: `nil` for an error about something else.
    package init?(_ errno: Errno, makingFile makesFile: Bool, around place: FilePath) {
        switch errno {
        case .diskQuotaExceeded: self = .quota
        case .fileTooLarge: self = .fileSize(PlatformCalls.mostFileSize)
        case .noSpace: self = makesFile && PlatformCalls.hasNoMoreFiles(around: place) ? .fileCount : .disk
        default: return nil
        }
    }
}

extension FileError {
    /// `nil` if there was no want of room.
    public var roomLimit: RoomLimit? {
        RoomLimit(
            errno, makingFile: [.open, .makeFolder, .makeFolderIn, .link, .rename].contains(operation),
            around: path.userFolder)
    }

    /// Whether there was no room.
    public var isOutOfSpace: Bool { roomLimit != nil }
}

extension FilePath {
    /// The name by which this program keeps what is in an inbox.
    package static let depot: FilePath.Component = ".ship-store"

    /// The first folder above that a user has named: temporary files, and those of an inbox, have their names from this program.
    package var userFolder: FilePath {
        let ours = components.firstIndex { $0 == Self.depot || TemporaryFolder.isTemporary($0.text) }
        let place = FilePath(root: root, ours.map { Array(components[..<$0]) } ?? Array(components.dropLast()))
        return place.isEmpty ? "." : place
    }
}
