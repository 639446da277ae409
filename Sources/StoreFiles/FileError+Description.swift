import ShipProtocol
import SystemPackage

extension FileError: CustomStringConvertible {
    public var description: String {
        // Nobody has asked for the folder that is made in it.
        if operation == .makeFolderIn, errno == .noSuchFileOrDirectory { return "there is no folder \(path.text)" }
        let isTemporary = path.components.contains { TemporaryFolder.isTemporary($0.text) }
        let subject = isTemporary ? "a temporary file in \(path.userFolder.text)" : path.text
        return "cannot \(operation.rawValue) \(subject): \(errno)"
    }
}
