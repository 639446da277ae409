import DeviceTrust
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreInstall
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// What comes out of a pipe or a file.
@Suite struct `A one-way stream` {
    /// The table of `Protocol/README.md` section 7.
    private static let exitStatus: [String: Int32] = [
        "version-not-supported": 76, "unknown-frame": 76, "protocol-violation": 76, "feature-not-supported": 76,
        "damaged": 65, "bad-manifest": 65, "bad-store": 65, "wrong-model": 65, "wrong-schema": 65,
        "probe-failed": 65, "no-space": 73, "cannot-install": 73, "rolled-back": 73, "other-store": 73, "busy": 75,
        "timed-out": 75, "stopped": 75, "not-trusted": 77, "bad-signature": 77, "replayed": 77,
    ]

    @Test(arguments: try VectorFile.all(.stream))
    func `is installed or refused as its vector says`(vector: VectorFile) async throws {
        let folder = try ScratchFolder()
        let file = folder.path.appending("shipment")
        try OpenFile.creating(file).write(vector.bytes)
        var options = Consumer.Options()
        // The rows in the vectors are none, and decode with no codec.
        options.codec = StubCodec().codec
        let consumer = try Consumer(inbox: folder.path.appending("inbox"), options: options)
        var failure: ShipmentError?
        do {
            let signer = Mutex(DeviceIdentifier?.none)
            let receipt = try await consumer.receive(from: .file(file)) { report in
                if case .signed(let id) = report.event { signer.withLock { $0 = id } }
            }
            #expect(signer.withLock { $0?.bytes } == vector["signer"].flatMap { ContentDigest(hex: $0)?.bytes })
            #expect(receipt.outcome == .installed)
            #expect(receipt.generation == 1)
            let generation = try #require(try consumer.inbox.current(of: receipt.name))
            try generation.compareWithManifest()
            let parts = generation.manifest.parts.enumerated().map { "\($0) \($1.size) \($1.sha256)" }
            #expect(parts == vector.all("part"))
        } catch let error as ShipmentError {
            failure = error
            for name in try consumer.inbox.storeNames() {
                let state = InboxProbe(consumer.inbox.root, store: name.text).state
                #expect(state.current == nil && state.generations.isEmpty && state.staged.isEmpty)
            }
        }
        #expect(failure?.code == vector.error)
        if let error = vector.error, let status = Self.exitStatus[error] {
            // A file is not a peer that could break a protocol.
            #expect(failure?.commandStatus == (status == 76 ? 65 : status))
        }
    }

    /// The same without files and SQLite, which is how the sweeps over damaged streams decode them.
    @Test(arguments: try VectorFile.all(.stream).filter { $0.error != "bad-store" })
    func `is decoded in memory as its vector says`(vector: VectorFile) {
        var consumer = MemoryConsumer()
        var failure: ShipmentError?
        do throws(ShipmentError) {
            try consumer.receive(vector.bytes)
            try consumer.linkEnded()
        } catch {
            failure = error
        }
        #expect(failure?.code == vector.error)
        #expect(consumer.partLines == vector.all("part"))
        #expect(consumer.signer?.bytes == vector["signer"].flatMap { ContentDigest(hex: $0)?.bytes })
        #expect(consumer.isInstalled == (vector.error == nil))
    }
}
