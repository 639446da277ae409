import Foundation
import ShipStore
import SystemPackage
import TestSupport
import Testing

@testable import ShipStoreTransfers

/// Whatever is lost, doubled, late, killed, restored from a backup or set up anew: in the end the watch has what the phone has.
@Suite struct TransferScheduleTests {
    @Test(arguments: 0..<(Soak.isOn ? 400 : 24))
    func `whatever the schedule, the watch ends with the phone's last content`(seed: Int) async throws {
        let schedule = try Schedule(seed: UInt64(seed))
        for _ in 0..<60 { try await schedule.something() }
        try await schedule.calm()
    }
}

private final class Schedule {
    private let pair: StandInPair
    private var random: RepeatableRandom
    private let seed: UInt64
    private var log: [String] = []
    private var backups = ["phone": false, "watch": false]

    init(seed: UInt64) throws {
        self.seed = seed
        random = RepeatableRandom(seed: seed)
        pair = try StandInPair(["Recipes", "Notes"], rows: 30)
        // Both, one, or none of the stores fit into the context.
        pair.senderOptions.longestContext = [200_000, 1500, 0][Int(seed % 3)]
        try pair.start()
    }

    private var comment: Comment { "seed \(seed): \(log.joined(separator: ", "))" }

    private func backup(_ device: String) -> FilePath { pair.scratch.path.appending("backup of \(device)") }

    func something() async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<12: try change()
        case 12..<32: try await step("phone")
        case 32..<50: try await step("watch")
        case 50..<64: try deliver("phone")
        case 64..<76: try deliver("watch")
        case 76..<80: fail()
        case 80..<86: advance()
        case 86..<90: try await killPhone()
        case 90..<94: try await killWatch()
        case 94:
            try save("phone", pair.phoneFolder) {
                pair.endPhone()
            } then: {
                try pair.startPhone()
            }
        case 95:
            try save("watch", pair.watchFolder) {
                pair.endWatch()
            } then: {
                try pair.startWatch()
            }
        case 96: try restorePhone()
        case 97..<99: try restoreWatch()
        default: lie()
        }
    }

    /// Everything is as it should be from here on.
    func calm() async throws {
        log.append("calm")
        try pair.start()
        pair.sender?.storeDidChange()
        try await pair.settle()
        try await pair.expectSame(comment)
    }

    private func change() throws {
        let store = Int.random(in: 0..<2, using: &random)
        log.append("change \(store)")
        let id = Int.random(in: 1...30, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        // Back to what it may have been.
        case 0: try pair.change(store, "UPDATE recipe SET title = 'same' WHERE id = 3")
        case 1: try pair.change(store, "DELETE FROM recipe WHERE id = \(id)")
        default: try pair.change(store, "INSERT OR REPLACE INTO recipe VALUES (\(id), '\(random.next())')")
        }
    }

    private func step(_ device: String) async throws {
        log.append("\(device) works")
        if device == "phone" {
            _ = await pair.sender?.step()
            // One shipment a store at most is under way, and nothing else is kept or queued.
            let kept = try Folder.names(in: pair.phoneFolder.appending("outgoing"))
            let carried = TransferContext(decoding: pair.phoneLine.context).shipments
            #expect(
                kept.count <= 2 && Set(pair.phoneLine.files.map(\.path)).count + carried.count <= kept.count, comment)
        } else {
            _ = await pair.receiver?.step()
            let waiting = pair.watchFolder.appending("transfers").appending("arrived")
            #expect(try Folder.names(in: waiting) == [], comment)
        }
    }

    private func deliver(_ device: String) throws {
        let line = device == "phone" ? pair.phoneLine : pair.watchLine
        guard !line.isEmpty, let sender = pair.sender, let receiver = pair.receiver else { return }
        // Behind the queue comes the context.
        let count = line.queued.count + (line.hasContext ? 1 : 0)
        let index = Int.random(in: 0..<count, using: &random)
        let isRepeated = Int.random(in: 0..<5, using: &random) == 0
        log.append("\(device)'s \(index) of \(line.queued.count) arrives\(isRepeated ? ", and stays" : "")")
        if device == "phone" {
            try line.deliver(index, from: sender, to: receiver, isRepeated: isRepeated)
        } else {
            try line.deliver(index, from: receiver, to: sender, isRepeated: isRepeated)
        }
    }

    private func fail() {
        let isPhone = Bool.random(using: &random)
        let line = isPhone ? pair.phoneLine : pair.watchLine
        guard !line.queued.isEmpty else { return }
        let index = Int.random(in: 0..<line.queued.count, using: &random)
        log.append("\(isPhone ? "phone" : "watch")'s \(index) of \(line.queued.count) fails")
        if Bool.random(using: &random) {
            line.fail(index, to: isPhone ? pair.sender : pair.receiver)
        } else {
            // Nobody is told.
            line.fail(index, to: nil)
        }
    }

    private func advance() {
        let waits: [Double] = [1, 30, 61, 600, 7200]
        let seconds = waits[Int.random(in: 0..<waits.count, using: &random)]
        log.append("\(Int(seconds)) s")
        pair.clock.advance(seconds)
    }

    // MARK: Ends

    /// Kills a device amid a step, and puts its folders back to what they were at that moment.
    private func kill(
        _ device: String, _ session: StandInSession, _ folder: FilePath, work: () async -> Void, end: () -> Void
    ) async throws {
        let calls = Int.random(in: 0..<3, using: &random)
        log.append("\(device) is killed after \(calls)")
        let remains = pair.scratch.path.appending("remains of \(device)")
        let killed = EventLog<Void>()
        session.kill(afterCalls: calls) {
            try? StandInPair.copy(folder, to: remains)
            killed.add(())
        }
        await work()
        end()
        if !killed.all.isEmpty { try StandInPair.copy(remains, to: folder) }
    }

    private func killPhone() async throws {
        try await kill("phone", pair.phoneSession, pair.phoneFolder) {
            _ = await pair.sender?.step()
        } end: {
            pair.endPhone()
        }
        try pair.startPhone()
    }

    private func killWatch() async throws {
        try await kill("watch", pair.watchSession, pair.watchFolder) {
            _ = await pair.receiver?.step()
        } end: {
            pair.endWatch()
        }
        try pair.startWatch()
    }

    private func save(
        _ device: String, _ folder: FilePath, _ end: () -> Void, then start: () throws -> Void
    ) throws {
        log.append("\(device) is backed up")
        end()
        try StandInPair.copy(folder, to: backup(device))
        backups[device] = true
        try start()
    }

    /// From the last backup, or to nothing.
    private func restore(_ device: String, _ folder: FilePath, _ line: StandInLine) throws {
        let isAnew = Bool.random(using: &random) || backups[device] == false
        log.append("\(device) is \(isAnew ? "set up anew" : "restored")")
        try Folder.removeTree(at: folder)
        if !isAnew { try StandInPair.copy(backup(device), to: folder) }
        // What was queued to go out is another device's by now.
        line.clear()
    }

    private func restorePhone() throws {
        pair.endPhone()
        try restore("phone", pair.phoneFolder, pair.phoneLine)
        try pair.startPhone()
    }

    private func restoreWatch() throws {
        pair.endWatch()
        try restore("watch", pair.watchFolder, pair.watchLine)
        if Bool.random(using: &random) { pair.phoneLine.loseContext() }
        try pair.startWatch()
    }

    /// Something comes that nobody has sent.
    private func lie() {
        log.append("a lie")
        let entries: [[String: Any]] = [
            ["ship-store": "1", "message": "answer", "token": "0123456789abcdef0123456789abcdef", "holdings": "{}"],
            ["ship-store": "2", "message": "ask"], ["ship-store": 1], ["ship-store": "1", "message": "store"],
        ]
        for entries in entries {
            _ = pair.sender?.session(didReceiveUserInfo: entries)
            _ = pair.receiver?.session(didReceiveUserInfo: entries)
        }
    }
}
