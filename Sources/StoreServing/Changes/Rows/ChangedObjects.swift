public import EssentialFoundation

/// The objects of a Core Data store that changed, by the URIs of their IDs: what
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)` takes under `NSInsertedObjectsKey`, `NSUpdatedObjectsKey` and
/// `NSDeletedObjectsKey`.
public struct ChangedObjects: Hashable, Sendable {
    public internal(set) var inserted: [URL] = []
    public internal(set) var updated: [URL] = []
    public internal(set) var deleted: [URL] = []
}
