import StoreOperations
import SystemPackage

/// The name of a copy's file, as the user chose it: without a folder, and with an extension, `.sqlite` if nothing else
/// was said.
public struct CopyFileName: Hashable, Sendable {
    public let text: String

    private static let sidecarEndings = ["-wal", "-shm", "-journal"]

    /// - Throws: `.operation(.badFileName)` for a path, a hidden file, and the name of a sidecar.
    public init(_ text: String) throws(ShipmentError) {
        guard let component = FilePath.Component(text), component.kind == .regular, component.string == text,
            !text.hasPrefix("."), !Self.sidecarEndings.contains(where: { text.lowercased().hasSuffix($0) })
        else { throw .operation(.badFileName(text)) }
        self.text = component.extension == nil ? text + ".sqlite" : text
    }
}
