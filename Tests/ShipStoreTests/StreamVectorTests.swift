import DeviceTrust
import ShipProtocol
import ShipStoreNetwork
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
        "missing-base": 72,
    ]

    @Test(arguments: try ProtocolVector.all(.stream))
    func `is installed or refused as its vector says`(vector: ProtocolVector) async throws {
        let folder = try ScratchFolder()
        let file = folder.path.appending("shipment")
        try OpenFile.creating(file).write(vector.bytes)
        try await HeldInVector.install(vector, in: Inbox(at: folder.path.appending("inbox")))
        let consumer = try Consumer(inbox: folder.path.appending("inbox"))
        let course = Mutex(Course())
        let unreadable = try HeldInVector.all(of: vector).filter { $0.store == nil }.map {
            Optional($0.manifest.store.sha256)
        }
        var failure: ShipmentError?
        do throws(ShipmentError) {
            _ = try await consumer.receive(from: .file(file)) { report in course.withLock { $0.add(report.event) } }
        } catch {
            failure = error
        }
        // It throws the first failure, which may be that of a shipment.
        #expect((course.withLock { $0.ending } ?? failure)?.code == vector.error)
        #expect(course.withLock { $0.lines } == vector.shipmentLines)
        for name in try consumer.inbox.storeNames() {
            #expect(InboxProbe(consumer.inbox.root, store: name.text).state.staged.isEmpty)
            let current = try consumer.inbox.current(of: name)
            if !unreadable.contains(current?.manifest.store.sha256) { try current?.compareWithManifest() }
        }
        if let error = vector.error, let status = Self.exitStatus[error] {
            // A file is not a peer that could break a protocol.
            #expect(failure?.commandStatus == (status == 76 ? 65 : status))
        }
    }

    /// What a consumer tells of the shipments in a stream.
    private struct Course {
        private(set) var lines: [ProtocolVector.Field] = []
        private var manifest: Manifest?
        private var signer: DeviceIdentifier?
        /// What ended the stream.
        private(set) var ending: ShipmentError?

        mutating func add(_ event: ReceiveEvent) {
            switch event {
            case .offered(let manifest): (self.manifest, signer) = (manifest, nil)
            case .signed(let id): signer = id
            case .finished(let receipt, _):
                end(receipt.outcome.rawValue)
                guard receipt.outcome == .installed else { return }
                lines += (manifest?.parts ?? []).enumerated().map {
                    .init(key: "part", value: "\($0) \($1.size) \($1.sha256)")
                }
            case .failed(.givenUp(let reason)) where reason.scope == .shipment: end("cancelled \(reason.code)")
            case .failed(let error) where error.endsShipmentAlone: end("refused \(error.code ?? "")")
            case .failed(let error): ending = error
            default: break
            }
        }

        private mutating func end(_ end: String) {
            guard let manifest else { return }
            lines.append(.init(key: "shipment", value: "\(manifest.name) \(end)"))
            if let signer { lines.append(.init(key: "signer", value: "\(ContentDigest(sha256: signer.bytes))")) }
        }
    }

    /// The same without files and SQLite, which is how the sweeps over damaged streams decode them.
    @Test(arguments: try ProtocolVector.all(.stream).filter { $0.error != "bad-store" })
    func `is decoded in memory as its vector says`(vector: ProtocolVector) throws {
        var consumer = MemoryConsumer()
        for held in try HeldInVector.all(of: vector) {
            consumer.hold(held.manifest, from: held.device)
            if let store = held.store { consumer.hold(store) }
        }
        var failure: ShipmentError?
        do throws(ShipmentError) {
            try consumer.receive(vector.bytes)
            try consumer.linkEnded()
        } catch {
            failure = error
        }
        #expect(
            (failure ?? consumer.refusals.first)?.code == vector.error
                || consumer.lines.contains { $0.value.contains("cancelled") })
        #expect(consumer.lines == vector.shipmentLines)
    }
}
