import Foundation
import ShipStore
import SystemPackage
import TestSupport
import Testing

@testable import ShipStoreTransfers

/// What comes from the other side, and may be anything.
@Suite struct TransferMessageTests {
    private static let token = "0123456789abcdef0123456789abcdef"

    private var holdings: HoldingsFile {
        HoldingsFile(
            software: "test", createdAt: Timestamp(Date()), until: Timestamp(Date()), sender: nil, receiver: nil,
            holds: [])
    }

    private func error(_ entries: [String: Any]) -> TransferMessageError? {
        do throws(TransferMessageError) {
            _ = try TransferMessage(entries)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a message reads as it was written`() throws {
        let token = try #require(TransferMessage.Token(Self.token))
        let name = try #require(StoreName("Recipes"))
        let content = try #require(ManifestContent.ID(hex: Self.token))
        let refusal = try #require(Reason(code: "a-later-code", message: "no \u{1B}[2J"))
        let outcomes: [TransferMessage.Outcome?] = [nil, .installed, .unchanged, .outdated, .refused(refusal)]
        let messages: [TransferMessage] =
            [
                .ask(token), .store(token, name: name, over: nil),
                .store(token, name: name, over: content),
                .answer(.init(token: nil, outcome: nil, holdings: holdings)),
            ] + outcomes.map { .answer(.init(token: token, outcome: $0, holdings: holdings)) }
        for message in messages {
            let read = try TransferMessage(message.entries)
            #expect(read == message)
        }
        #expect(messages.map { TransferMessage.isAnnouncement($0.entries) }.count { $0 } == 1)
        // What is too long for a dictionary comes as a file.
        var entries = messages[4].entries
        let text = try #require(entries["holdings"])
        entries["holdings"] = nil
        #expect(error(entries) == .missing(key: "holdings"))
        let read = try TransferMessage(entries) { () throws(TransferMessageError) in Array(text.utf8) }
        #expect(read == messages[4])
    }

    @Test func `what breaks a rule is told apart, and never believed`() {
        let ask: [String: Any] = ["ship-store": "1", "message": "ask", "token": Self.token]
        let store = ask.merging(["message": "store", "name": "Recipes"]) { $1 }
        let answer = ask.merging(["message": "answer", "holdings": "{}"]) { $1 }
        func changed(_ entries: [String: Any], _ key: String, _ value: Any?) -> TransferMessageError? {
            var entries = entries
            entries[key] = value
            return error(entries)
        }
        #expect(error(ask) == nil && error(store) == nil)
        #expect(changed(ask, "ship-store", "2") == .otherVersion("2"))
        #expect(changed(ask, "ship-store", 1) == .malformed(key: "ship-store"))
        #expect(changed(ask, "ship-store", nil) == .missing(key: "ship-store"))
        #expect(changed(ask, "message", "sing") == .notForThisHalf)
        #expect(changed(ask, "message", nil) == .notForThisHalf)
        #expect(changed(ask, "token", nil) == .missing(key: "token"))
        for bad in [Self.token.uppercased(), "", Self.token + "0", "../../../../../../../../../etc/pw"] {
            #expect(changed(ask, "token", bad) == .malformed(key: "token"))
        }
        #expect(changed(ask, "token", Data(count: 32)) == .malformed(key: "token"))
        #expect(changed(store, "name", "../x") == .malformed(key: "name"))
        #expect(changed(store, "name", String(repeating: "x", count: 200)) == .malformed(key: "name"))
        #expect(changed(store, "name", nil) == .missing(key: "name"))
        #expect(changed(store, "over", "0123") == .malformed(key: "over"))
        #expect(changed(store, "over", Self.token + "00") == .malformed(key: "over"))
        guard case .badHoldings = error(answer) else {
            Issue.record("a holdings file without members")
            return
        }
        let long = String(repeating: " ", count: Limits.messageSize + 1)
        #expect(changed(answer, "holdings", long) == .malformed(key: "holdings"))
        let refused = answer.merging(["outcome": "refused"]) { $1 }
        #expect(error(refused) == .missing(key: "code"))
        #expect(changed(refused, "code", "") == .malformed(key: "reason"))
        #expect(changed(answer, "outcome", "eaten") == .malformed(key: "outcome"))
    }

    @Test func `an app's own messages are left to it, and those of the own half are told`() throws {
        let pair = try StandInPair()
        try pair.start()
        let (sender, receiver) = (try #require(pair.sender), try #require(pair.receiver))
        #expect(!sender.session(didReceiveUserInfo: ["steps": 7]) && !receiver.session(didReceiveUserInfo: [:]))
        #expect(!sender.session(didReceiveFile: "/etc/hosts", metadata: [:]))
        #expect(!receiver.session(didReceiveFile: "/etc/hosts", metadata: ["a": "b"]))
        let ask: [String: Any] = ["ship-store": "1", "message": "ask", "token": Self.token]
        #expect(sender.session(didReceiveUserInfo: ask))
        #expect(receiver.session(didReceiveFile: "/etc/hosts", metadata: ask))
        let long = pair.scratch.path.appending("long")
        try OpenFile.creating(long).write([UInt8](repeating: 32, count: Limits.messageSize + 10))
        #expect(sender.session(didReceiveFile: long, metadata: ["ship-store": "1", "message": "answer"]))
        let told = pair.sent.all.compactMap { if case .ignored(let error) = $0 { error } else { nil } }
        #expect(told.count == 2 && told.first == .notForThisHalf)
        let heard = pair.received.all.compactMap { if case .ignored(let error) = $0 { error } else { nil } }
        #expect(heard == [.notForThisHalf])
    }

    @Test func `only so many shipments wait to be taken in`() throws {
        let pair = try StandInPair()
        try pair.startWatch()
        let store = ["ship-store": "1", "message": "store", "token": Self.token, "name": "Recipes"]
        for _ in 0..<ArrivedShipments.limit + 2 {
            let file = pair.scratch.path.appending("came")
            try OpenFile.creating(file).write([1])
            #expect(pair.receiver?.session(didReceiveFile: file, metadata: store) == true)
            try Folder.removeTree(at: file)
        }
        let told = pair.received.all.compactMap { if case .ignored(let error) = $0 { error } else { nil } }
        #expect(told == [.tooMany, .tooMany])
        let folder = pair.watchFolder.appending("transfers").appending("arrived")
        #expect(try Folder.names(in: folder).count == 2 * ArrivedShipments.limit)
        // What a killed process has left goes at the next start; what counts stays.
        try OpenFile.creating(folder.appending("99.shipment")).write([1])
        pair.endWatch()
        try pair.startWatch()
        #expect(try Folder.names(in: folder).count == 2 * ArrivedShipments.limit)
    }
}
