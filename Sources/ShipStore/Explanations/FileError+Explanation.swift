import ShipProtocol
import StoreFiles
import SystemPackage

extension FileError {
    var explanation: Explanation { Explanation("\(self)", hint: hint) }

    private var hint: PrintableText? {
        if isOutOfSpace { return "free some space, then try again" }
        switch errno {
        case .noSuchFileOrDirectory:
            return operation == .makeFolder ? "make the folder above it first" : "check the path"
        case .notDirectory: return "a part of the path is a file, not a folder: choose another path"
        case .isDirectory: return "name a file, not a folder"
        case .permissionDenied, .notPermitted: return "run as a user who may do that, or choose another path"
        case .readOnlyFileSystem: return "choose a place that can be written to"
        case .fileExists: return "something of that name is there: choose another, or move it away"
        case .tooManySymbolicLinkLevels: return "there is a symbolic link where none is followed: name what it leads to"
        case .fileNameTooLong: return "choose a shorter name"
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
            return "close other programs, or raise the limit (`ulimit -n`)"
        case .ioError: return "look at the disk: the system's log may say more"
        default: return nil
        }
    }
}
