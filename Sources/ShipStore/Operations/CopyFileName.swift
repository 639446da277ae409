import SystemPackage

/// The name of a copy's file, as the user chose it: without a folder, and with an extension, `.sqlite` unless it has another one.
public struct CopyFileName: Hashable, Sendable {
    public let text: String

    private static let sidecarEndings = ["-wal", "-shm", "-journal"]

    /// - Throws: `.operation(.badFileName)` for a path, a hidden file, and the name of a sidecar.
    public init(_ text: String) throws(ShipmentError) {
        let name = FilePath(text: text)
        guard let component = name.lastComponent, component.kind == .regular, name.components.count == 1,
            name.text == text,
            !text.hasPrefix("."), !Self.sidecarEndings.contains(where: { text.lowercased().hasSuffix($0) })
        else { throw .operation(.badFileName(text)) }
        self.text = component.extension == nil ? text + ".sqlite" : text
    }
}
