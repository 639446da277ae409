package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Which device's shipments a store accepts, and the highest counter among them. The `Origin` of the current generation says it
/// for that generation; `origin.json` in the store's folder says it for earlier ones.
///
/// So the counter of the current generation is known at every moment. The record is written before `current` leads elsewhere, and
/// whenever a counter rises without a new generation.
package struct OriginRecord: Hashable, Sendable, Codable {
    /// The device whose shipments are taken.
    package let producer: ContentDigest
    /// The highest counter of those that came from it.
    package let highest: UInt64
    /// The last generation that the record covers: for a later one its own `Origin` counts.
    package let generation: Int

    package init(producer: ContentDigest, highest: UInt64, generation: Int) {
        self.producer = producer
        self.highest = highest
        self.generation = generation
    }

    /// The record once a generation is, or was, current.
    package static func after(
        _ generation: GenerationName, at path: FilePath, in folder: borrowing OpenFolder, _ record: OriginRecord?
    ) throws(InboxError) -> OriginRecord? {
        guard generation.number > record?.generation ?? 0,
            let origin = try Origin.read(ofGenerationAt: path, in: folder), !origin.isAdopted,
            let producer = origin.producer ?? record?.producer
        else { return record }
        return OriginRecord(producer: producer, highest: origin.counter, generation: generation.number)
    }
}

extension OriginRecord {
    /// - Returns: `nil` if there is no file.
    /// - Throws: `.badOrigin`, `.file`.
    package static func read(at path: FilePath, in folder: borrowing OpenFolder) throws(InboxError) -> OriginRecord? {
        let record: OriginRecord? = try folder.record(at: path, .badOrigin(path))
        // The next generation has a number above it.
        guard (0..<Limits.generation).contains(record?.generation ?? 0) else { throw .badOrigin(path) }
        return record
    }
}
