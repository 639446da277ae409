public import ShipProtocol

/// The cell of a Core Data store that refers to an external file.
public struct ExternalFileReference: Hashable, Sendable {
    public let table: ForeignText
    public let column: ForeignText
    /// `Z_PK`.
    public let row: Int64
    public let name: ExternalFileName
}
