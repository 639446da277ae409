import ShipProtocol
import SystemPackage

extension FileError: CustomStringConvertible {
    public var description: String {
        let isTemporary = path.components.contains { TemporaryFolder.isTemporary($0.text) }
        let subject = isTemporary ? "a temporary file in \(path.userFolder.text)" : path.text
        return "cannot \(operation.rawValue) \(subject): \(errno)"
    }
}
