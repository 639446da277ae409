import Foundation
import ShipLinks
import ShipProtocol
import ShipStoreNetwork
import StoreFiles
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Whatever an app sets, the process goes on: an option counts as far as it can, or an error says what is wrong.
@Suite struct ExtremeOptionTests {
    private let scratch: ScratchFolder
    private let store: FilePath
    private let file: FilePath

    init() throws {
        scratch = try ScratchFolder()
        (store, file) = (scratch.path.appending("Recipes.sqlite"), scratch.path.appending("a.shipment"))
        try TestStore.make(at: store, sql: "CREATE TABLE recipe(id INTEGER PRIMARY KEY); INSERT INTO recipe VALUES (1)")
    }

    private func producer(_ change: (inout Producer.Options) -> Void = { _ in }) -> Producer {
        var options = Producer.Options()
        change(&options)
        return Producer(store, options: options)
    }

    @Test func `a producer without stores sends nothing`() async throws {
        await #expect(throws: ShipmentError.nothingToShip) { try await Producer([FilePath]()).send(to: file) }
        #expect(try Folder.names(in: scratch.path) == ["Recipes.sqlite"])
    }

    @Test(arguments: [["build number": "7"], ["k": String(repeating: "v", count: 1025)], ["": "v"]])
    func `metadata that no manifest can have is not sent`(pairs: [String: String]) async throws {
        let failure = await #expect(throws: ShipmentError.self) {
            try await producer { $0.metadata = pairs }.send(to: file)
        }
        guard case .source(.badMetadata) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(try Folder.names(in: scratch.path) == ["Recipes.sqlite"])
    }

    @Test(arguments: [-1, 65_536, Int.max, Int.min]) func `a port that there cannot be is told`(port: Int) async throws
    {
        let endpoint = Endpoint.tcp(host: "127.0.0.1", port: port)
        let failure = await #expect(throws: ShipmentError.self) { try await producer().send(to: endpoint) }
        guard case .link(.couldNotResolve) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        await #expect(throws: ShipmentError.self) {
            try await Consumer(inbox: scratch.path.appending("in")).listen(on: endpoint)
        }
    }

    @Test(arguments: [Int.min, 0, 1_000_000_000, .max], [PartEncoding.columns, .blocks])
    func `any number of cores will do`(cores: Int, encoding: PartEncoding) async throws {
        let delivered = try await producer { ($0.cores, $0.encoding) = (cores, encoding) }.send(to: file)
        #expect(delivered.count == 1)
    }

    @Test func `any time may be waited`() async throws {
        let ever = Duration.seconds(Int64.max)
        var timeouts = Timeouts(connect: ever, hello: ever, idle: ever, preparing: ever, work: ever)
        timeouts.keepAlive = ever
        let (sent, taken) = (timeouts, timeouts)
        let socket = Endpoint.unix(scratch.path.appending("socket"))
        var options = Consumer.Options()
        options.timeouts = taken
        let consumer = try Consumer(inbox: scratch.path.appending("in"), options: options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try? await consumer.listen(on: socket) }
            let delivered = try await producer { $0.timeouts = sent }.send(to: socket, retryingFor: .seconds(20))
            #expect(delivered.count == 1)
            group.cancelAll()
        }
        let age = try consumer.coordinator.asOf("Recipes")
        #expect(!age.isWithin(.seconds(-1)))
    }
}
