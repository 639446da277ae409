import DeviceTrust
import ShipProtocol
import Synchronization
import SystemPackage

@testable import ShipStore

/// A storage where something happens right before the first head is written, or right after it: then who writes it is cancelled.
final class InterruptedStorage: PublicationStorage {
    private let storage: StorageInMemory
    private let action: Mutex<(@Sendable () async throws -> Void)?>
    private let isCancelling: Bool

    init(_ storage: StorageInMemory, by action: @escaping @Sendable () async throws -> Void) {
        self.storage = storage
        self.action = Mutex(action)
        isCancelling = false
    }

    init(cancellingAfter storage: StorageInMemory) {
        self.storage = storage
        action = Mutex(nil)
        isCancelling = true
    }

    func head(unlike tag: String?, fresh isFresh: Bool) async throws -> FetchedHead {
        try Task.checkCancellation()
        return try await storage.head(unlike: tag, fresh: isFresh)
    }

    func object(
        _ digest: ContentDigest, from offset: Int64, upTo limit: Int64, _ take: (Int64, [UInt8]) throws -> Void
    ) async throws { try await storage.object(digest, from: offset, upTo: limit, take) }

    func put(_ object: PublishedObject, from file: FilePath, as name: ContentDigest) async throws {
        try await storage.put(object, from: file, as: name)
    }

    func replaceHead(tagged tag: String?, with head: [UInt8]) async throws -> String? {
        if let action = action.withLock({ $0.take() }) { try await action() }
        let new = try await storage.replaceHead(tagged: tag, with: head)
        if isCancelling { withUnsafeCurrentTask { $0?.cancel() } }
        try Task.checkCancellation()
        return new
    }

    func objects() async throws -> [(name: ContentDigest, written: Timestamp)] { try await storage.objects() }

    func remove(_ name: ContentDigest, writtenBefore time: Timestamp) async throws -> Bool {
        try await storage.remove(name, writtenBefore: time)
    }
}
