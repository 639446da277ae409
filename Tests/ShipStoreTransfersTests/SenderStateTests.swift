import Foundation
import ShipStore
import SystemPackage
import TestSupport
import Testing

@testable import ShipStoreTransfers

/// What a sender does next, without a session or a store.
@Suite struct SenderStateTests {
    private let name = StoreName(suggestedBy: "Recipes.sqlite")
    private let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let first: ManifestContent.ID
    private let second: ManifestContent.ID

    init() throws {
        first = try #require(ManifestContent.ID(hex: String(repeating: "1", count: 32)))
        second = try #require(ManifestContent.ID(hex: String(repeating: "2", count: 32)))
    }

    /// A receiver that holds this of the store.
    private func holdings(_ content: ManifestContent.ID?) throws -> HoldingsFile {
        let held = content.map {
            #"{"name": "Recipes", "manifest": "\#($0.hex)", "store": "\#(String(repeating: "a", count: 64))", "size": 1}"#
        }
        let time = "2026-11-20T19:04:05Z"
        let text = """
            {"software": "test", "createdAt": "\(time)", "until": "\(time)", "holds": [\(held ?? "")]}
            """
        return try HoldingsFile(decoding: Array(text.utf8))
    }

    private func answer(
        _ token: TransferMessage.Token?, _ content: ManifestContent.ID?, _ outcome: TransferMessage.Outcome? = nil
    ) throws -> TransferMessage.Answer {
        TransferMessage.Answer(token: token, outcome: outcome, holdings: try holdings(content))
    }

    private func state(holding content: ManifestContent.ID?) throws -> SenderState {
        var state = SenderState(SenderRecord(), of: [name], TransferSender.Options(), at: start)
        guard let token = state.ask(nil, at: start).token else { throw Unexpected() }
        _ = state.record.receive(try answer(token, content), at: start, state.backoff)
        return state
    }

    private func asked(_ state: inout SenderState, at now: Date) throws -> TransferMessage.Token {
        guard let token = state.ask(nil, at: now).token else { throw Unexpected() }
        return token
    }

    /// Makes a shipment of this content, and hands it over.
    private func send(
        _ content: ManifestContent.ID, _ state: inout SenderState, at now: Date
    ) throws -> SenderRecord.Transfer {
        guard case .make(let order) = state.step(for: name, [], at: now) else { throw Unexpected() }
        state.begin(name)
        guard case .send(let transfer) = state.made(name, .init(), content, by: order, [], at: now) else {
            throw Unexpected()
        }
        return transfer
    }

    private struct Unexpected: Error {}

    @Test func `nothing is sent before the receiver has said what it holds`() throws {
        var state = SenderState(SenderRecord(), of: [name], TransferSender.Options(), at: start)
        #expect(state.step(for: name, [], at: start) == .wait)
        let (token, until) = state.ask(nil, at: start)
        #expect(token != nil && until == start.addingTimeInterval(60))
        // Not before its time, then the same question once more, half as often.
        #expect(state.ask(nil, at: start.addingTimeInterval(59)).token == nil)
        let again = state.ask(nil, at: start.addingTimeInterval(60))
        #expect(again.token == token && again.until == start.addingTimeInterval(180))
        // One that still waits to be delivered is as good as a new one.
        let queued = TransferMessage.Token()
        #expect(state.ask(queued, at: start.addingTimeInterval(200)).token == nil)
        _ = state.record.receive(try answer(queued, nil), at: start, state.backoff)
        #expect(state.record.held != nil && state.record.question == nil)
    }

    @Test func `a late word that says something else leads to a question, and is not believed`() throws {
        var state = try state(holding: first)
        _ = state.record.receive(try answer(TransferMessage.Token(), second), at: start, state.backoff)
        #expect(state.record.current(name) == first && state.record.question != nil)
        #expect(state.step(for: name, [], at: start) == .wait)
        // One that says the same does not.
        var other = try self.state(holding: first)
        _ = other.record.receive(try answer(TransferMessage.Token(), first), at: start, other.backoff)
        _ = other.record.receive(try answer(nil, first), at: start, other.backoff)
        #expect(other.record.question == nil)
    }

    @Test func `an answer to a question from before a receiver began anew does not count`() throws {
        var state = try state(holding: first)
        state.record.askAgain()
        let old = try asked(&state, at: start)
        // It says unasked that it holds nothing any more; what it said before comes after that.
        _ = state.record.receive(try answer(nil, nil), at: start, state.backoff)
        _ = state.record.receive(try answer(old, second), at: start, state.backoff)
        let new = try asked(&state, at: start)
        #expect(new != old)
        _ = state.record.receive(try answer(new, nil), at: start, state.backoff)
        #expect(state.record.current(name) == nil && state.record.question == nil)
    }

    @Test func `a receiver without the base gets the store whole, and then plain, and then not at once`() throws {
        var state = try state(holding: first)
        var manners: [SenderRecord.Form] = []
        for code in [RefusalCode.missingBase, .damaged, .damaged] {
            guard case .make(let order) = state.step(for: name, [], at: start) else { throw Unexpected() }
            manners.append(order.form)
            let transfer = try send(second, &state, at: start)
            let refused = try answer(transfer.token, first, .refused(Reason(code, message: "")))
            #expect(state.record.receive(refused, at: start, state.backoff) == name)
        }
        #expect(manners == [.delta, .whole, .plain])
        #expect(state.step(for: name, [], at: start) == .wait)
        state.change(name, at: start)
        let later = start.addingTimeInterval(2)
        guard case .make(let order) = state.step(for: name, [], at: later) else { throw Unexpected() }
        // The same content is refused still.
        state.begin(name)
        #expect(order.form == .delta && state.made(name, .init(), second, by: order, [], at: later) == .drop)
    }

    @Test func `what a receiver refuses for what passes goes again, a few times`() throws {
        var state = try state(holding: nil)
        var (now, times) = (start, 0)
        while true {
            let transfer = try send(second, &state, at: now)
            times += 1
            let refused = try answer(transfer.token, nil, .refused(Reason(.noSpace, message: "")))
            _ = state.record.receive(refused, at: now, state.backoff)
            guard case .waitUntil(let next) = state.step(for: name, [], at: now) else { break }
            #expect(next > now)
            now = next
        }
        #expect(times == SenderRecord.maximumAttempts && state.step(for: name, [], at: now) == .wait)
    }

    @Test func `what a receiver refuses for good goes again once its app has started anew, less and less often`() throws
    {
        var state = try state(holding: first)
        var (now, waits): (Date, [Double]) = (start, [])
        for _ in 0..<4 {
            let transfer = try send(second, &state, at: now)
            let refused = try answer(transfer.token, first, .refused(Reason(.wrongModel, message: "")))
            _ = state.record.receive(refused, at: now, state.backoff)
            #expect(state.step(for: name, [], at: now.addingTimeInterval(1e6)) == .wait)
            _ = state.record.receive(try answer(nil, first), at: now, state.backoff)
            guard case .waitUntil(let next) = state.step(for: name, [], at: now) else { throw Unexpected() }
            waits.append(next.timeIntervalSince(now))
            now = next
        }
        #expect(waits == [60, 120, 240, 480])
    }

    @Test func `a shipment of which nobody hears is asked after, and made again if it is not there`() throws {
        var state = try state(holding: nil)
        let transfer = try send(first, &state, at: start)
        #expect(state.step(for: name, [transfer.token], at: start.addingTimeInterval(1e6)) == .wait)
        // The session has it no more.
        let patience = start.addingTimeInterval(60)
        #expect(state.step(for: name, [], at: start) == .waitUntil(patience))
        #expect(state.step(for: name, [], at: patience) == .waitUntil(patience))
        let token = try asked(&state, at: patience)
        _ = state.record.receive(try answer(token, nil), at: patience, state.backoff)
        // Whatever kept it from being answered may keep the next one from it.
        var (now, waits): (Date, [Double]) = (patience, [])
        for _ in 0..<4 {
            guard case .waitUntil(let next) = state.step(for: name, [], at: now) else { throw Unexpected() }
            waits.append(next.timeIntervalSince(now))
            _ = try send(first, &state, at: next)
            guard case .waitUntil(let asking) = state.step(for: name, [], at: next) else { throw Unexpected() }
            _ = state.step(for: name, [], at: asking)
            let token = try asked(&state, at: asking)
            _ = state.record.receive(try answer(token, nil), at: asking, state.backoff)
            now = asking
        }
        #expect(waits == [60, 120, 240, 480])
        // It had arrived after all.
        var other = try self.state(holding: nil)
        _ = try send(first, &other, at: start)
        _ = other.step(for: name, [], at: start)
        _ = other.step(for: name, [], at: patience)
        let late = try asked(&other, at: patience)
        _ = other.record.receive(try answer(late, first), at: patience, other.backoff)
        #expect(other.step(for: name, [], at: patience) == .wait)
    }

    @Test(arguments: [TransferMessage.Outcome.installed, .unchanged, .outdated])
    func `a receiver that does not hold what it says is not sent the same at once`(
        outcome: TransferMessage.Outcome
    ) throws {
        var state = try state(holding: first)
        var (now, waits): (Date, [Double]) = (start, [])
        for _ in 0..<3 {
            let transfer = try send(second, &state, at: now)
            _ = state.record.receive(try answer(transfer.token, first, outcome), at: now, state.backoff)
            guard case .waitUntil(let next) = state.step(for: name, [], at: now) else { throw Unexpected() }
            waits.append(next.timeIntervalSince(now))
            now = next
        }
        #expect(waits == [60, 120, 240])
    }

    @Test func `what one content was refused for does not count for the next, nor what was not delivered`() throws {
        var state = try state(holding: nil)
        var now = start
        for _ in 0..<SenderRecord.maximumAttempts {
            let transfer = try send(first, &state, at: now)
            _ = state.record.fail(transfer.token, at: now, state.backoff)
            guard case .waitUntil(let next) = state.step(for: name, [], at: now) else { throw Unexpected() }
            now = next
        }
        for content in [first, second] {
            state.change(name, at: now)
            now += 3600
            let transfer = try send(content, &state, at: now)
            let refused = try answer(transfer.token, nil, .refused(Reason(.busy, message: "")))
            _ = state.record.receive(refused, at: now, state.backoff)
            #expect(state.record.stores[name]?.refusal?.next == now.addingTimeInterval(60))
        }
    }

    @Test func `what the app gives up is made again as soon as it can be`() throws {
        var state = try state(holding: nil)
        guard case .make = state.step(for: name, [], at: start) else { throw Unexpected() }
        state.begin(name)
        state.stop(name, at: start)
        guard case .make = state.step(for: name, [], at: start) else { throw Unexpected() }
        #expect(state.record.stores[name]?.failures ?? 0 == 0)
    }

    @Test func `a refusal from before a clock was set back ends when its wait would`() throws {
        var state = try state(holding: nil)
        let transfer = try send(first, &state, at: start)
        let refused = try answer(transfer.token, nil, .refused(Reason(.noSpace, message: "")))
        _ = state.record.receive(refused, at: start, state.backoff)
        let past = start.addingTimeInterval(-1e8)
        // It is made once, and goes: not again and again.
        _ = try send(first, &state, at: past)
    }

    @Test func `a clock that is set back makes nobody wait for ever`() throws {
        var state = try state(holding: nil)
        let transfer = try send(first, &state, at: start)
        _ = state.record.fail(transfer.token, at: start, state.backoff)
        let past = start.addingTimeInterval(-1e8)
        guard case .make = state.step(for: name, [], at: past) else { throw Unexpected() }
    }

    @Test func `what is known survives, and what cannot be read is asked`() throws {
        let scratch = try ScratchFolder()
        let folder = SenderFolder(path: scratch.path)
        try folder.make()
        var state = try state(holding: first)
        _ = try send(second, &state, at: start)
        try folder.write(state.record)
        #expect(folder.readRecord() == state.record)
        let bytes = try OpenFile.reading(folder.record).read(1 << 20, at: 0)
        for cut in stride(from: 0, to: bytes.count, by: 37) {
            try Folder.removeTree(at: folder.record)
            try OpenFile.creating(folder.record).write(Array(bytes.prefix(cut)))
            #expect(folder.readRecord() == SenderRecord())
        }
    }
}
