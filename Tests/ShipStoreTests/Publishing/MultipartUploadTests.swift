import Foundation
import ShipProtocol
import ShipStore
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStoreNetwork

/// Objects that go into storage in parts, several at a time.
@Suite struct MultipartUploadTests {
    private let scratch: ScratchFolder
    private let object: PublishedObject
    private let bytes: [UInt8]

    init() throws {
        scratch = try .inMemory()
        var random = RepeatableRandom(seed: 60)
        bytes = random.bytes(20_000)
        object = PublishedObject(sha256: ContentDigest(hashing: bytes), size: Int64(bytes.count))
        try OpenFile.creating(scratch.path.appending("object")).write(bytes)
    }

    private func put(to server: StorageServer) async throws {
        let (storage, _) = try StorageServer.publication(onPort: server.port)
        try await storage.put(object, from: scratch.path.appending("object"), as: object.sha256)
    }

    private static func part(of request: HTTPServer.Request) -> Int? {
        request.target.firstMatch(of: /partNumber=(\d+)/).flatMap { Int($0.1) }
    }

    @Test func `parts go several at a time, in any order, and one that fails goes again`() async throws {
        let arrived = Mutex<[Int]>([])
        let server = try StorageServer { request in
            guard let number = Self.part(of: request) else { return }
            // The first one is there once all others are.
            let end = ContinuousClock.now + .seconds(5)
            while number == 1, arrived.withLock({ Set($0).count }) < 6, .now < end {
                Thread.sleep(forTimeInterval: 0.005)
            }
            arrived.withLock { $0.append(number) }
        }
        // The first request begins the upload.
        server.set((kind: .failed, at: 2, lasts: false))
        try await put(to: server)
        let order = arrived.withLock(\.self)
        #expect(order.count == 8 && Set(order) == Set(1...7))
        #expect(order.firstIndex(of: 1) ?? 0 >= 6, "\(order)")
        #expect(server.content.objects["objects/\(object.sha256.hex)"] == bytes)
        #expect(server.content.uploads.isEmpty && server.flaws.isEmpty)
    }

    @Test func `no more than three parts are on their way, and none once the upload is cancelled`() async throws {
        let isOver = Atomic(false)
        let arrived = Mutex<Set<Int>>([])
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let server = try StorageServer { request in
            guard let number = Self.part(of: request) else { return }
            arrived.withLock { _ = $0.insert(number) }
            arrival.yield()
            while !isOver.load(ordering: .relaxed) { Thread.sleep(forTimeInterval: 0.005) }
        }
        let task = Task { try await put(to: server) }
        var iterator = arrivals.makeAsyncIterator()
        for _ in 0..<3 { _ = await iterator.next() }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        isOver.store(true, ordering: .relaxed)
        #expect(arrived.withLock(\.self) == [1, 2, 3])
        #expect(server.content.uploads.isEmpty && server.content.objects.isEmpty && server.hasSentParts)
    }
}
