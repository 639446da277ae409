import DeviceTrust
import ShipProtocol
import ShipStore
import ShipStoreNetwork
import ShipTransport
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Trust that changes when all of a shipment is here, and nothing is left but to make it current.
@Suite struct `Trust is asked for a last time` {
    private let scratch: ScratchFolder
    private let (phone, watch): (Device, Device)
    private let store: FilePath

    init() throws {
        scratch = try ScratchFolder()
        phone = Device(folder: scratch.path.appending("phone"))
        watch = Device(folder: scratch.path.appending("watch"))
        store = scratch.path.appending("Recipes.sqlite")
        try TestStore.make(at: store, sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('Borscht')")
    }

    private func consumer() throws -> Consumer {
        var options = Consumer.Options()
        options.trust = .trustedPeers(of: watch)
        return try Consumer(inbox: scratch.path.appending("inbox"), options: options)
    }

    private func producer(_ change: (inout Producer.Options) -> Void = { _ in }) -> Producer {
        var options = Producer.Options()
        options.trust = .trustedPeers(of: phone)
        change(&options)
        return Producer(store, options: options)
    }

    private func keep() async throws -> Endpoint {
        let file = Endpoint.file(scratch.path.appending("a.shipment"))
        _ = try await producer { $0.signsAlways = true }.send(to: file)
        return file
    }

    private var nothingIsInstalled: Bool {
        get throws { try Folder.names(in: scratch.path.appending("inbox")) == [".ship-store"] }
    }

    @Test func `before a file of the only trusted device becomes current`() async throws {
        let file = try await keep()
        let id = try phone.identity().id
        _ = try watch.trust(id)
        let consumer = try consumer()
        await #expect(throws: ShipmentError.unknownSigner(id)) {
            try await consumer.receive(from: file) { [watch] report in
                if case .checked = report.event { _ = try? watch.distrust(id.text) }
            }
        }
        #expect(try nothingIsInstalled)
    }

    @Test func `before a file that nobody has signed becomes current, where nobody was trusted`() async throws {
        let file = Endpoint.file(scratch.path.appending("a.shipment"))
        let name = try #require(try await Producer(store).send(to: file).first).manifest.name
        let consumer = try consumer()
        await #expect(throws: ShipmentError.unsigned(name, onStandardInput: false)) {
            try await consumer.receive(from: file) { [phone, watch] report in
                if case .checked = report.event { _ = try? watch.trust(phone.identity().id) }
            }
        }
        #expect(try nothingIsInstalled)
    }

    @Test func `before what comes over a link becomes current, or is found to be`() async throws {
        let id = try phone.identity().id
        _ = try phone.trust(watch.identity().id)
        let consumer = try consumer()
        let moment = Mutex(Moment?.some(.checked))
        let (addresses, continuation) = AsyncStream.makeStream(of: String.self)
        _ = try watch.trust(id)
        let listening = Task { [watch] in
            try await consumer.listen(on: Endpoint("127.0.0.1:0", toListen: true)) { report in
                switch report.event {
                case .listener(.listening(let address)): continuation.yield(address)
                case .checked where moment.withLock({ $0 == .checked }),
                    .offered where moment.withLock({ $0 == .offered }):
                    _ = try? watch.distrust(id.text)
                default: break
                }
            }
        }
        defer { listening.cancel() }
        var iterator = addresses.makeAsyncIterator()
        let address = try Endpoint(try #require(await iterator.next()))
        func expectRefusal() async {
            let error = await #expect(throws: ShipmentError.self) { try await producer().send(to: address) }
            guard case .refused(let reason) = error, reason.code == "not-trusted" else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        await expectRefusal()
        #expect(try nothingIsInstalled)
        _ = try watch.trust(id)
        moment.withLock { $0 = nil }
        _ = try await producer().send(to: address)
        // What is there already is told to nobody else.
        moment.withLock { $0 = .offered }
        await expectRefusal()
    }

    /// When trust ends in the middle of a shipment.
    private enum Moment { case offered, checked }

    @Test func `before a receiver learns what there is`() async throws {
        let id = try watch.identity().id
        _ = try watch.trust(phone.identity().id)
        _ = try phone.trust(id)
        let consumer = try consumer()
        let offers = Mutex(0)
        let (addresses, continuation) = AsyncStream.makeStream(of: String.self)
        let listening = Task {
            try await consumer.listen(on: Endpoint("127.0.0.1:0", toListen: true)) { report in
                switch report.event {
                case .listener(.listening(let address)): continuation.yield(address)
                case .offered: offers.withLock { $0 += 1 }
                default: break
                }
            }
        }
        defer { listening.cancel() }
        var iterator = addresses.makeAsyncIterator()
        let address = try Endpoint(try #require(await iterator.next()))
        await #expect(throws: ShipmentError.link(.notTrusted(id))) {
            try await producer().send(to: address) { [phone] event in
                if case .copied = event { _ = try? phone.distrust(id.text) }
            }
        }
        #expect(offers.withLock { $0 } == 0)
    }
}
