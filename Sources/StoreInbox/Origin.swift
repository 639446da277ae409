import EssentialFoundation
public import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Where a shipment was from, as far as that was proven: beside the manifest of its generation, as `origin.json`, and so
/// current in the same instant as the generation itself.
public struct Origin: Hashable, Sendable {
    /// The id of the device that made it: the SHA-256 of its certificate. `nil` where that is not known.
    public let producer: ContentDigest?
    /// The device's number of the shipment.
    public let counter: UInt64

    package init(producer: ContentDigest?, counter: UInt64) {
        self.producer = producer
        self.counter = counter
    }
}

extension Origin: Codable {
    /// - Returns: `nil` if nobody knows.
    /// - Throws: `.badOrigin`, `.file`.
    package static func read(
        ofGenerationAt path: FilePath, in folder: borrowing OpenFolder
    ) throws(InboxError) -> Origin? {
        try SmallFile.decode(Origin.self, at: path.appending(InboxLayout.originFile), in: folder)
    }
}

/// Whose shipments a store's are, and how far they have come: what is current says so itself (`Origin`), and
/// `origin.json` in the store's folder what is no more.
///
/// So there is no moment at which a generation is current and its counter is not known; the record is written before
/// `current` leads elsewhere, and whenever a counter rises without a new generation.
package struct OriginRecord: Hashable, Sendable {
    /// The device whose shipments are taken.
    package let producer: ContentDigest
    /// The highest counter of those that came from it.
    package let highest: UInt64
    /// What the record knows of: of a generation of a higher number its own `Origin` counts.
    package let generation: Int

    package init(producer: ContentDigest, highest: UInt64, generation: Int) {
        self.producer = producer
        self.highest = highest
        self.generation = generation
    }

    /// What is known once a generation is, or was, current.
    ///
    /// - Parameters:
    ///   - path: The folder of the generation.
    ///   - folder: The inbox.
    package static func after(
        _ generation: GenerationName, at path: FilePath, in folder: borrowing OpenFolder, _ record: OriginRecord?
    ) throws(InboxError) -> OriginRecord? {
        guard generation.number > record?.generation ?? 0,
            let origin = try Origin.read(ofGenerationAt: path, in: folder),
            let producer = origin.producer ?? record?.producer
        else { return record }
        return OriginRecord(producer: producer, highest: origin.counter, generation: generation.number)
    }
}

extension OriginRecord: Codable {
    /// - Returns: `nil` if there is no file.
    /// - Throws: `.badOrigin`, `.file`.
    package static func read(
        at path: FilePath, in folder: borrowing OpenFolder
    ) throws(InboxError) -> OriginRecord? {
        try SmallFile.decode(OriginRecord.self, at: path, in: folder)
    }
}

/// A file of ours of a few hundred bytes.
private enum SmallFile {
    /// Largest file that is read, in bytes.
    private static let sizeLimit: Int64 = 4096

    static func decode<Value: Decodable>(
        _: Value.Type, at path: FilePath, in folder: borrowing OpenFolder
    ) throws(InboxError) -> Value? {
        let bytes: [UInt8]
        do throws(FileError) {
            let file = try folder.file(at: path)
            let status = try file.status
            guard status.size <= sizeLimit else { throw FileError(.read, path, .fileTooLarge) }
            bytes = try file.read(Int(status.size), at: 0)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: return nil
            case .fileTooLarge, .invalidArgument, .tooManySymbolicLinkLevels: throw .badOrigin(path)
            default: throw .file(error)
            }
        }
        guard let value = try? JSONDecoder().decode(Value.self, from: Data(bytes)) else { throw .badOrigin(path) }
        return value
    }
}
