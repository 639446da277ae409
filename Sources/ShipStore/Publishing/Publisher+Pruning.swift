import EssentialFoundation
import ShipProtocol

extension Publisher {
    /// Removes the objects that nothing needs, and that no reader may still ask for.
    ///
    /// Another program may publish meanwhile: what it has written is younger than the grace.
    ///
    /// - Parameter grace: How long an object stays after the first head that does not need it.
    /// - Returns: How many objects were removed, and how many stay.
    /// - Throws: What is wrong with the storage, or with what lies there.
    package func prune(after grace: Duration) async throws -> (removed: Int, kept: Int) {
        let end = Timestamp(Date().addingTimeInterval(-(max(.zero, grace) / .seconds(1))))
        // Listed first: what comes after this is not even looked at.
        let objects = try await storage.objects()
        guard let head = try await head()?.head else { throw PublicationError.nothingThere(place) }
        var (needed, gone) = (Set<ContentDigest>(), [ContentDigest: Timestamp]())
        for store in head.stores {
            guard let object = store.catalog else { continue }
            needed.insert(object.sha256)
            let catalog = try await catalog(object, of: store.name)
            needed.formUnion(catalog.steps.compactMap(\.sha256))
            for entry in catalog.gone { gone[entry.sha256] = max(gone[entry.sha256] ?? entry.since, entry.since) }
        }
        var removed = 0
        for (digest, written) in objects where !needed.contains(digest) {
            try Task.checkCancellation()
            guard max(written, gone[digest] ?? written) < end else { continue }
            try await storage.remove(digest, writtenBefore: end)
            removed += 1
        }
        return (removed, objects.count - removed)
    }
}
