import Foundation
import ShipStore
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import ShipStoreTransfers

/// What goes in the application context.
@Suite struct TransferContextTests {
    private func started(_ names: [String] = ["Recipes"], rows: Int = 50) async throws -> StandInPair {
        let pair = try StandInPair(names, rows: rows)
        try pair.start()
        try await pair.settle()
        return pair
    }

    private func carried(_ pair: StandInPair) -> [TransferContext.Carried] {
        TransferContext(decoding: pair.phoneLine.context).shipments
    }

    private func installed(_ pair: StandInPair) -> Int {
        pair.received.all.count { if case .installed = $0 { true } else { false } }
    }

    @Test func `a watch that wakes late finds the newest state, in one step, and no file was queued`() async throws {
        let pair = try await started(["Recipes", "Notes"])
        let before = installed(pair)
        var tokens: Set<TransferMessage.Token?> = []
        for _ in 0..<5 {
            try pair.change(0)
            try pair.change(1)
            pair.clock.advance(600)
            _ = await pair.sender?.step()
            #expect(carried(pair).count == 2 && pair.phoneLine.queued == [])
            tokens.formUnion(carried(pair).map(\.token))
        }
        #expect(tokens.count == 10)
        try await pair.settle()
        try await pair.expectSame()
        #expect(installed(pair) == before + 2)
        #expect(pair.sent.all.allSatisfy { if case .refused = $0 { false } else { true } })
        // What has arrived is not there for ever.
        #expect(pair.phoneLine.context == nil)
    }

    @Test func `both may begin anew while it is under way`() async throws {
        let pair = try await started()
        try pair.change()
        _ = await pair.sender?.step()
        let first = try #require(carried(pair).first)
        try pair.startPhone()
        pair.clock.advance(120)
        _ = await pair.sender?.step()
        #expect(carried(pair) == [first])
        // It arrives while the watch's app does not run.
        pair.endWatch()
        pair.phoneLine.deliverContext(to: nil)
        try pair.startWatch()
        try await pair.settle()
        try await pair.expectSame()
    }

    @Test func `one that is lost with its watch comes again`() async throws {
        let pair = try await started()
        try pair.change()
        _ = await pair.sender?.step()
        pair.phoneLine.loseContext()
        #expect(carried(pair).count == 1 && !pair.phoneLine.hasContext)
        try pair.startWatch()
        try await pair.settle()
        try await pair.expectSame()
    }

    @Test func `of more shipments than may wait, all come, each once`() async throws {
        let pair = try await started((1...ArrivedShipments.limit + 5).map { "Store\($0)" })
        pair.received.clear()
        for store in pair.stores.indices { try pair.change(store) }
        _ = await pair.sender?.step()
        #expect(carried(pair).count == ArrivedShipments.limit + 5)
        pair.phoneLine.deliverContext(to: pair.receiver)
        for _ in 0..<2 { _ = await pair.receiver?.step() }
        #expect(installed(pair) == ArrivedShipments.limit + 5)
        try await pair.settle()
        try await pair.expectSame()
        #expect(pair.received.all.allSatisfy { if case .outdated = $0 { false } else { true } })
    }

    @Test func `one that cannot be kept comes later, and those before it once`() async throws {
        let pair = try await started(["Notes", "Recipes"])
        for store in pair.stores.indices { try pair.change(store) }
        _ = await pair.sender?.step()
        pair.phoneLine.deliverContext(to: pair.receiver)
        // The number that the second shipment is going to have is taken.
        let folder = pair.watchFolder.appending("transfers").appending("arrived")
        let taken = folder.appending("4.shipment")
        try Folder.make(taken)
        try OpenFile.creating(taken.appending("file")).write([1])
        let before = installed(pair)
        let again = await pair.receiver?.step()
        #expect(installed(pair) == before + 1 && again == pair.clock.now().addingTimeInterval(60))
        #expect(pair.received.all.contains { if case .failed(.file, _) = $0 { true } else { false } })
        try Folder.removeTree(at: taken)
        try await pair.settle()
        try await pair.expectSame()
        #expect(installed(pair) == before + 2)
        #expect(pair.received.all.allSatisfy { if case .outdated = $0 { false } else { true } })
    }

    @Test func `a shipment whose metadata cannot be read now stays, and the others are installed`() async throws {
        let pair = try await started(["Notes", "Recipes"])
        let waiting = try ArrivedShipments(in: pair.watchFolder.appending("transfers"))
        for number in 1...2 { try waiting.keep([UInt8(number)], ["number": "\(number)"]) }
        let folder = pair.watchFolder.appending("transfers").appending("arrived")
        let hidden = pair.scratch.path.appending("hidden.json")
        try PlatformCalls.rename(folder.appending("1.json"), to: hidden)
        // To open a link gives an error, as a disk does that cannot be read.
        try FileManager.default.createSymbolicLink(
            atPath: folder.appending("1.json").string, withDestinationPath: hidden.string)
        let (shipments, unread) = waiting.all()
        #expect(shipments.map(\.metadata) == [["number": "2"]] && unread != nil)
        try PlatformCalls.rename(hidden, to: folder.appending("1.json"))
        #expect(waiting.all().shipments.map(\.metadata) == [["number": "1"], ["number": "2"]])
        // What was read, and is no metadata, goes.
        try OpenFile.creating(folder.appending("3.json")).write([1])
        #expect(waiting.all().unread == nil && waiting.all().shipments.count == 2)
        #expect(try Folder.names(in: folder).count == 4)
    }

    @Test func `what is too large, or refused by the session, goes as a file`() async throws {
        for (rows, limit) in [(20_000, 1_000_000), (50, 100)] {
            let pair = try StandInPair(rows: rows)
            pair.senderOptions.longestContext = limit
            try pair.start()
            try await pair.settle()
            try pair.change(0, "UPDATE recipe SET title = hex(randomblob(20))")
            _ = await pair.sender?.step()
            #expect(pair.phoneLine.files.count == 1 && pair.phoneLine.context == nil)
            try await pair.settle()
            try await pair.expectSame()
        }
    }

    @Test func `whatever comes as a context does no harm`() async throws {
        let pair = try await started()
        var random = RepeatableRandom(seed: 1)
        try pair.change()
        _ = await pair.sender?.step()
        let sound = try #require(pair.phoneLine.context)
        for round in 0..<300 {
            var bytes = Array(sound)
            switch round % 3 {
            case 0: bytes = random.bytes(Int.random(in: 0...300, using: &random))
            case 1: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
            default: bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            }
            pair.phoneLine.context = Data(bytes)
            pair.phoneLine.deliverContext(to: pair.receiver)
            _ = await pair.receiver?.step()
            _ = TransferContext(decoding: Data(bytes))
        }
        try pair.change()
        try await pair.settle()
        try await pair.expectSame()
    }
}
