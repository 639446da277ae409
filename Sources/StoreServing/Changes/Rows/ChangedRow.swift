public import EssentialFoundation
public import GRDB
public import ShipProtocol

/// A row, by what it is found with.
public struct ChangedRow: Hashable, Sendable {
    /// The values of `ChangedRows.keyColumns`, in their order, to be arguments of a query.
    public let key: [DatabaseValue]
    /// The entity of the object that the row is, in a store that Core Data made: that of the row, which may be a subentity of the table's.
    public let entity: ForeignText?
    /// The object's ID, as `NSManagedObjectID.uriRepresentation()` gives it: `x-coredata://STORE-UUID/ENTITY/pKEY`.
    public let objectID: URL?
}
