import Foundation
import ShipStore
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import ShipStoreTransfers

/// A damaged record is none, and ends no app.
@Suite struct DamagedRecordTests {
    private let scratch: ScratchFolder
    private let name = StoreName(suggestedBy: "Recipes.sqlite")
    private let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let content: ManifestContent.ID

    init() throws {
        scratch = try ScratchFolder.inMemory()
        content = try #require(ManifestContent.ID(hex: String(repeating: "1", count: 32)))
    }

    /// Writes damaged versions of a file in its place, one after the other.
    private func damage(_ path: FilePath, _ look: (String) throws -> Void) throws {
        let file = URL(fileURLWithPath: path.string)
        for text in DamagedNumbers.variants(of: try String(contentsOf: file, encoding: .utf8), seed: 5) {
            try Data(text.utf8).write(to: file)
            try look(text)
        }
    }

    private func sample(asking question: SenderRecord.Question?) throws -> SenderRecord {
        let time = "2026-11-20T19:04:05Z"
        let holdings = #"{"software":"test","createdAt":"\#(time)","until":"\#(time)","holds":[]}"#
        var entry = SenderRecord.Entry()
        entry.underWay = SenderRecord.Transfer(
            token: .init(), content: content, over: nil, began: start, patience: start)
        entry.refusal = SenderRecord.Refusal(content: content, attempts: 2, code: "busy", message: "", next: start)
        (entry.failures, entry.notBefore) = (3, start)
        return SenderRecord(
            held: try HoldingsFile(decoding: Array(holdings.utf8)), question: question, stores: [name: entry])
    }

    /// Has a sender do all that counts something.
    private func count(in record: SenderRecord, _ tokens: [TransferMessage.Token?], _ held: HoldingsFile) {
        let options = TransferSender.Options()
        let end = start.addingTimeInterval(options.maximumRetryDelay / .seconds(1))
        var state = SenderState(record, of: [name], options, at: start)
        if let until = state.ask(nil, at: start).until { #expect(until <= end) }
        if case .waitUntil(let time) = state.step(for: name, [], at: start) { #expect(time <= end) }
        #expect(state.fail(name, at: start) <= end)
        for token in tokens {
            var record = record
            let refusal = TransferMessage.Outcome.refused(Reason(.noSpace, message: ""))
            let answer = TransferMessage.Answer(token: token, outcome: refusal, holdings: held)
            _ = record.receive(answer, at: start, state.backoff)
            if let token { _ = state.record.fail(token, at: start, state.backoff) }
        }
    }

    @Test func `what a sender's record counts is what a sender may have counted`() throws {
        let folder = SenderFolder(path: scratch.path.appending("phone"))
        try folder.make()
        for question in [nil, SenderRecord.Question(attempts: 4, next: start)] {
            let record = try sample(asking: question)
            let held = try #require(record.held)
            let tokens = [nil, question?.token, record.stores[name]?.underWay?.token]
            try folder.write(record)
            #expect(folder.readRecord() == record)
            try damage(folder.record) { _ in count(in: folder.readRecord(), tokens, held) }
        }
    }

    @Test func `a shipment was tried as often as it may be, whatever the file beside it says`() throws {
        let arrived = try ArrivedShipments(in: scratch.path)
        try arrived.keep([1], ["ship-store": "1"])
        arrived.withdrawAttempt(try #require(arrived.all().shipments.first))
        try damage(scratch.path.appending("arrived").appending("1.json")) { text in
            for shipment in arrived.all().shipments {
                #expect((0...ArrivedShipments.maximumAttempts).contains(shipment.attempts), "\(text)")
                try arrived.attempt(shipment)
                arrived.withdrawAttempt(shipment)
            }
        }
    }

    @Test func `a shipment stays where the file beside it cannot be read now`() throws {
        let arrived = try ArrivedShipments(in: scratch.path)
        try arrived.keep([1], ["ship-store": "1"])
        let folder = scratch.path.appending("arrived")
        let (metadata, aside) = (folder.appending("1.json"), scratch.path.appending("aside"))
        try PlatformCalls.rename(metadata, to: aside)
        // To read a folder is an error, as to read a bad block is.
        try Folder.make(metadata.appending("x"))
        let (shipments, error) = arrived.all()
        #expect(shipments.isEmpty && error?.errno == .isDirectory)
        try Folder.removeTree(at: metadata)
        try PlatformCalls.rename(aside, to: metadata)
        let shipment = try #require(arrived.all().shipments.first)
        #expect(try OpenFile.reading(shipment.file).read(9, at: 0) == [1])
    }
}
