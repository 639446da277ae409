import Foundation
import ShipStore
import SystemPackage
import TestSupport
import Testing

@testable import ShipStoreTransfers

/// A phone and a watch, step by step.
@Suite struct TransferExchangeTests {
    /// What the last shipment took, in bytes, and how its store went.
    private func last(_ pair: StandInPair) -> Delivery? {
        pair.sent.all.reversed().lazy.compactMap { if case .began(_, let delivery) = $0 { delivery } else { nil } }
            .first
    }

    private func shipments(_ pair: StandInPair) -> Int {
        pair.sent.all.count { if case .began = $0 { true } else { false } }
    }

    @Test func `a watch gets the whole store first, then what changes, and nothing where nothing does`() async throws {
        let pair = try StandInPair(rows: 2000)
        try pair.start()
        try await pair.settle()
        try await pair.expectSame()
        let whole = try #require(last(pair))
        #expect(whole.store?.encoding == .columns)
        try pair.change()
        try await pair.settle()
        try await pair.expectSame()
        let delta = try #require(last(pair))
        #expect(delta.store?.encoding == .delta && delta.bytesSent < whole.bytesSent / 20)
        #expect(shipments(pair) == 2)
        // Told of a change that is none, and begun anew, neither sends a store.
        pair.sender?.storeDidChange()
        pair.clock.advance(60)
        try await pair.settle()
        try pair.start()
        try await pair.settle()
        #expect(shipments(pair) == 2)
        try await pair.expectSame()
    }

    @Test func `the shipments of a device that signs build on each other, though the watch was not told of it`()
        async throws
    {
        let pair = try StandInPair(rows: 2000)
        pair.senderOptions.producer.device = Device(folder: pair.scratch.path.appending("device"))
        pair.senderOptions.producer.signsAlways = true
        try pair.start()
        try await pair.settle()
        try pair.change()
        try await pair.settle()
        try await pair.expectSame()
        #expect(last(pair)?.store?.encoding == .delta && shipments(pair) == 2)
    }

    @Test func `a folder that holds something else is left alone`() throws {
        let pair = try StandInPair()
        let outgoing = pair.phoneFolder.appending("outgoing")
        try Folder.make(outgoing)
        let file = outgoing.appending(String(repeating: "a", count: 32))
        try OpenFile.creating(file).write([1])
        #expect(throws: ShipmentError.self) { try pair.startPhone() }
        #expect(throws: ShipmentError.self) {
            try TransferReceiver(
                into: Consumer(inbox: pair.inbox), over: pair.watchSession, folder: pair.phoneFolder)
        }
        #expect(try Folder.names(in: pair.phoneFolder) == ["outgoing"])
        #expect(try OpenFile.reading(file).size == 1)
    }

    @Test func `another counterpart is asked what it holds`() async throws {
        let pair = try StandInPair(rows: 2000)
        try pair.start()
        try await pair.settle()
        // A watch that has nothing yet, whose app has not been opened.
        pair.endWatch()
        try Folder.removeTree(at: pair.watchFolder)
        pair.watchLine.clear()
        pair.sender?.counterpartDidChange()
        _ = await pair.sender?.step()
        #expect(pair.phoneLine.files.isEmpty && !pair.phoneLine.isEmpty)
        try pair.startWatch()
        try await pair.settle()
        try await pair.expectSame()
        #expect(shipments(pair) == 2)
    }

    @Test(.timeLimit(.minutes(1))) func `catching up waits for a session to be ready, and for whom it is cancelled`()
        async throws
    {
        let pair = try StandInPair()
        try pair.start()
        await pair.step()
        try pair.deliverAll()
        pair.watchSession.isReady = false
        let receiver = try #require(pair.receiver)
        _ = receiver.session(didReceiveUserInfo: TransferMessage.ask(TransferMessage.Token()).entries)
        let asked = pair.watchSession.timesAsked
        let waiting = Task { await receiver.catchUp() }
        try await Task.sleep(for: .milliseconds(300))
        #expect(pair.watchSession.timesAsked - asked < 30)
        waiting.cancel()
        await waiting.value
        pair.watchSession.isReady = true
        // Beside somebody who runs.
        let running = Task { await receiver.run() }
        await receiver.catchUp()
        #expect(!pair.watchLine.isEmpty)
        running.cancel()
        await running.value
    }

    @Test func `a Core Data store travels with its external files`() async throws {
        let pair = try StandInPair([])
        let path = pair.scratch.path.appending("Photos.sqlite")
        let sample = try CoreDataSample(at: path)
        try sample.addPhoto(key: 1, content: Data(repeating: 7, count: 50_000))
        let sent = EventLog<SenderEvent>()
        let sender = try TransferSender(
            of: [path], over: pair.phoneSession, folder: pair.phoneFolder, options: pair.senderOptions,
            report: sent.add)
        try pair.startWatch()
        let receiver = try #require(pair.receiver)
        for _ in 0..<6 {
            _ = await sender.step()
            while !pair.phoneLine.isEmpty { try pair.phoneLine.deliver(from: sender, to: receiver) }
            _ = await receiver.step()
            while !pair.watchLine.isEmpty { try pair.watchLine.deliver(from: receiver, to: sender) }
        }
        let current = try #require(try Inbox(at: pair.inbox).current(of: StoreName(suggestedBy: "Photos.sqlite")))
        #expect(current.manifest.externalFiles.count == 1)
        #expect(try StoreContent(of: current.storePath).tables == StoreContent(of: path).tables)
    }

    @Test func `a watch that was set up anew says so, and gets the whole store`() async throws {
        let pair = try StandInPair(rows: 2000)
        try pair.start()
        try await pair.settle()
        pair.endWatch()
        try Folder.removeTree(at: pair.watchFolder)
        pair.watchLine.clear()
        try pair.startWatch()
        try await pair.settle()
        try await pair.expectSame()
        #expect(last(pair)?.store?.encoding == .columns && shipments(pair) == 2)
    }

    @Test func `a watch with an older inbox gets what has changed since that`() async throws {
        let pair = try StandInPair(rows: 2000)
        try pair.start()
        try await pair.settle()
        let backup = pair.scratch.path.appending("backup")
        pair.endWatch()
        try StandInPair.copy(pair.watchFolder, to: backup)
        try pair.startWatch()
        try pair.change()
        try await pair.settle()
        pair.endWatch()
        try StandInPair.copy(backup, to: pair.watchFolder)
        try pair.startWatch()
        try await pair.settle()
        try await pair.expectSame()
        #expect(last(pair)?.store?.encoding == .delta && shipments(pair) == 3)
    }

    @Test func `a phone that has forgotten everything asks, and sends nothing that is there`() async throws {
        let pair = try StandInPair(rows: 2000)
        try pair.start()
        try await pair.settle()
        pair.endPhone()
        try Folder.removeTree(at: pair.phoneFolder)
        try pair.startPhone()
        try await pair.settle()
        #expect(shipments(pair) == 1)
        // The copy that it took to find that out is one to build on.
        try pair.change()
        try await pair.settle()
        #expect(last(pair)?.store?.encoding == .delta && shipments(pair) == 2)
        pair.endPhone()
        try Folder.removeTree(at: pair.phoneFolder)
        // Of what the watch has now it has no copy any more, until it has sent one.
        try pair.change()
        try pair.startPhone()
        try await pair.settle()
        #expect(last(pair)?.store?.encoding == .columns && shipments(pair) == 3)
        try await pair.expectSame()
    }

    @Test func `a shipment that comes late and twice changes nothing, and is answered`() async throws {
        let pair = try StandInPair()
        pair.senderOptions.longestContext = 0
        try pair.start()
        try await pair.settle()
        try pair.change()
        _ = await pair.sender?.step()
        let (sender, receiver) = (try #require(pair.sender), try #require(pair.receiver))
        // It stays queued, as if the end had been forgotten.
        let late = try #require(pair.phoneLine.files.first)
        let copy = pair.scratch.path.appending("late")
        try StandInPair.copy(late.path, to: copy)
        try pair.phoneLine.deliver(from: sender, to: receiver, isRepeated: true)
        try await pair.settle()
        try pair.change()
        try await pair.settle()
        try await pair.expectSame()
        pair.received.clear()
        #expect(receiver.session(didReceiveFile: copy, metadata: late.metadata))
        try await pair.settle()
        try await pair.expectSame()
        #expect(pair.received.all.contains { if case .outdated = $0 { true } else { false } })
    }

    @Test func `what could not be delivered goes again in time, later each time`() async throws {
        let pair = try StandInPair()
        pair.senderOptions.longestContext = 0
        try pair.start()
        try await pair.settle()
        try pair.change()
        _ = await pair.sender?.step()
        var waits: [Double] = []
        for _ in 0..<4 {
            #expect(pair.phoneLine.files.count == 1)
            pair.phoneLine.fail(0, to: pair.sender)
            let next = try #require(await pair.sender?.step())
            #expect(pair.phoneLine.isEmpty)
            waits.append(next.timeIntervalSince(pair.clock.now()))
            pair.clock.advance(to: next)
            _ = await pair.sender?.step()
        }
        #expect(waits == [60, 120, 240, 480])
        try await pair.settle()
        try await pair.expectSame()
    }

    @Test func `a later change takes the place of what is not delivered, after a while`() async throws {
        let pair = try StandInPair()
        pair.senderOptions.longestContext = 0
        try pair.start()
        try await pair.settle()
        try pair.change()
        _ = await pair.sender?.step()
        let first = try #require(pair.phoneLine.files.first)
        try pair.change()
        _ = await pair.sender?.step()
        #expect(pair.phoneLine.files.map(\.path) == [first.path])
        pair.clock.advance(60)
        _ = await pair.sender?.step()
        #expect(pair.phoneLine.files.count == 1 && pair.phoneLine.files.first?.path != first.path)
        #expect(try Folder.names(in: pair.phoneFolder.appending("outgoing")).count == 1)
        try await pair.settle()
        try await pair.expectSame()
    }

    @Test func `a phone that begins anew while a shipment is under way leaves it alone`() async throws {
        let pair = try StandInPair()
        pair.senderOptions.longestContext = 0
        try pair.start()
        try await pair.settle()
        try pair.change()
        _ = await pair.sender?.step()
        let first = try #require(pair.phoneLine.files.first)
        try pair.startPhone()
        pair.clock.advance(120)
        _ = await pair.sender?.step()
        #expect(pair.phoneLine.files.map(\.path) == [first.path])
        try await pair.settle()
        try await pair.expectSame()
    }

    @Test func `a refusal is told, and the same is not sent again before the watch begins anew`() async throws {
        let pair = try StandInPair()
        var requirements = StoreRequirements()
        requirements.userVersions = 5...7
        pair.consumerOptions.requirements = requirements
        try pair.start()
        try await pair.settle()
        let refusals = pair.sent.all.compactMap { event -> (RefusalCode?, Date?)? in
            if case .refused(_, let reason, let again) = event { (reason.knownCode, again) } else { nil }
        }
        #expect(refusals.count == 1 && refusals.first?.0 == .wrongSchema && refusals.first?.1 == nil)
        try pair.startPhone()
        try await pair.settle()
        #expect(shipments(pair) == 1)
        // Its app may be another version.
        try pair.startWatch()
        try await pair.settle()
        #expect(shipments(pair) == 2)
        try pair.change(0, "PRAGMA user_version = 6")
        try await pair.settle()
        try await pair.expectSame()
    }

    @Test func `what one watch refuses for good goes to the next one`() async throws {
        let pair = try StandInPair()
        pair.consumerOptions.requirements.userVersions = 5...7
        try pair.start()
        try await pair.settle()
        #expect(shipments(pair) == 1)
        pair.endWatch()
        try Folder.removeTree(at: pair.watchFolder)
        pair.consumerOptions.requirements.userVersions = nil
        pair.sender?.counterpartDidChange()
        try pair.startWatch()
        try await pair.settle()
        try await pair.expectSame()
    }

    @Test func `a session that is no longer ready, once a copy is taken, is asked nothing`() async throws {
        let pair = try StandInPair()
        try pair.start()
        try await pair.settle()
        try pair.change()
        let sender = try #require(pair.sender)
        // At the start of the step it is ready.
        pair.phoneSession.endReadiness(afterQuestions: 1) { sender.counterpartDidChange() }
        _ = await sender.step()
        #expect(!pair.phoneSession.isReady && pair.phoneLine.isEmpty)
        pair.phoneSession.isReady = true
        try await pair.settle()
        try await pair.expectSame()
    }

    @Test func `what a watch holds goes as a file, where it is too long for a dictionary`() async throws {
        let pair = try StandInPair()
        pair.receiverOptions.longestUserInfo = 200
        try pair.start()
        try await pair.settle()
        try pair.change()
        try await pair.settle()
        try await pair.expectSame()
        #expect(last(pair)?.store?.encoding == .delta)
    }

    @Test func `nothing is begun while the session is not ready`() async throws {
        let pair = try StandInPair()
        try pair.start()
        pair.phoneSession.isReady = false
        pair.watchSession.isReady = false
        #expect(await pair.sender?.step() == .distantFuture && pair.phoneLine.isEmpty)
        #expect(await pair.receiver?.step() == .distantFuture && pair.watchLine.isEmpty)
    }

    @Test func `a shipment that ends the app each time is refused in the end`() async throws {
        let pair = try StandInPair()
        try pair.start()
        await pair.step()
        try pair.deliverAll()
        await pair.step()
        try pair.deliverAll()
        // The watch has answered; what it gets now is what it is killed over.
        while pair.phoneLine.files.isEmpty {
            await pair.step()
            if pair.phoneLine.files.isEmpty { try pair.deliverAll() }
        }
        try pair.deliverAll()
        let arrived = pair.watchFolder.appending("transfers").appending("arrived")
        let waiting = try ArrivedShipments(in: arrived.removingLastComponent())
        let shipment = try #require(waiting.all().shipments.first)
        for _ in 0..<3 { try waiting.attempt(try #require(waiting.all().shipments.first)) }
        #expect(waiting.all().shipments.first?.attempts == 3 && shipment.attempts == 0)
        pair.endWatch()
        try pair.startWatch()
        await pair.step()
        #expect(try Folder.names(in: arrived) == [])
        try pair.deliverAll()
        let codes = pair.sent.all.compactMap {
            if case .refused(_, let reason, _) = $0 { reason.knownCode } else { nil }
        }
        #expect(codes == [.cannotInstall])
        try await pair.settle()
        try await pair.expectSame()
    }

    @Test(.timeLimit(.minutes(1))) func `both halves run until they are cancelled`() async throws {
        let pair = try StandInPair()
        pair.senderOptions.settling = .milliseconds(1)
        try pair.start()
        let (sender, receiver) = (try #require(pair.sender), try #require(pair.receiver))
        let running = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await sender.run() }
                group.addTask { await receiver.run() }
            }
        }
        while !pair.received.all.contains(where: { if case .installed = $0 { true } else { false } }) {
            try pair.deliverAll()
            try await Task.sleep(for: .milliseconds(5))
        }
        running.cancel()
        await running.value
    }
}
