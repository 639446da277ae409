import Foundation
import SystemPackage
import TestSupport
import Testing

/// A phone that follows its store, a tablet that passes on what it gets, and a watch that gets it from the one or the other.
@Suite(.serialized) struct RelayFollowTests {
    /// The programs that run all the time; those that listen come first.
    private enum Part: CaseIterable {
        case tablet, listener, relay, sender, watch
    }

    private enum Event: CaseIterable {
        case commit, burst, vacuum, kill, killRelay, otherWay, otherPhone, nextBundle, forgottenBundle
    }

    /// The state of one run.
    private final class Household {
        let desk: Desk
        var source: TickingStore
        /// The device that has the store at the moment.
        var phone = "phone"
        /// Whether the watch gets it from the tablet.
        var isRelayed = true
        var seen = ["tablet": 0, "watch": 0]
        private var programs: [Part: ChildProgram] = [:]
        private var ids: [String: String] = [:]
        private var ports: [Part: Int] = [:]

        init() async throws {
            desk = try Desk()
            source = try TickingStore(at: desk["S.sqlite"])
            try source.commit()
            for device in ["phone", "new phone", "tablet", "watch"] { ids[device] = try await desk.id(of: device) }
            for phone in ["phone", "new phone"] {
                for device in ["tablet", "watch"] {
                    try await trust(device, by: phone, "--role", "receiver")
                    try await trust(phone, by: device, "--role", "sender")
                }
            }
            try await trust("watch", by: "tablet", "--role", "receiver")
            try await trust("tablet", by: "watch", "--role", "relay")
        }

        private func trust(_ device: String, by other: String, _ options: String...) async throws {
            try await desk.run(["trust", ids[device] ?? "", "--identity", other, "-q"] + options).expectSuccess()
        }

        /// Starts a program; one that listens has the same port each time, and is there once this returns.
        func start(_ part: Part) async throws {
            func address(_ part: Part) -> String { "127.0.0.1:\(ports[part] ?? 0)" }
            let way = address(isRelayed ? .relay : .listener)
            let (command, device) =
                switch part {
                case .tablet: ("receive --into tablet-inbox --relay --listen \(address(part))", "tablet")
                case .listener: ("send S.sqlite --listen \(address(part))", phone)
                case .relay: ("send --inbox tablet-inbox --listen \(address(part))", "tablet")
                case .sender: ("send S.sqlite --relay --to \(address(.tablet))", phone)
                case .watch: ("receive --into watch-inbox --follow --keep-trying --from \(way)", "watch")
                }
            let options =
                command.hasPrefix("send")
                ? ["--follow", "--settle", "50ms", "--keep-trying"] : ["--keep", "1000"]
            let program = try desk.start(
                command.split(separator: " ").map(String.init) + options + ["--identity", device])
            programs[part] = program
            guard command.contains("--listen") else { return }
            let line = try await program.waitForLine(containing: "listening on ")
            ports[part] = line.split(separator: ":").last.flatMap { Int($0) }
        }

        func end(_ part: Part, with signal: Int32 = SIGKILL) async throws {
            guard let program = programs[part] else { return }
            if signal == SIGKILL { program.signal(signal) } else { try await program.signalOnceReady(signal) }
            let outcome = try await program.wait(timeout: .seconds(20))
            #expect(outcome.status == (signal == SIGKILL ? .signalled(signal) : .exited(0)), "\(outcome.stderr)")
        }

        /// The app's next version brings a newer copy along: it takes the place of the one before as a base, and is adopted where nothing is.
        func bringBundle(forgetting isForgotten: Bool) async throws {
            try await end(.tablet)
            try await addBundle()
            if isForgotten { _ = try await desk.run("forget", "S", "--into", "tablet-inbox", "-q") }
            let adopted = try await desk.run("adopt", "S.base.sqlite", "--into", "tablet-inbox", "-q")
            #expect([.exited(0), .exited(73)].contains(adopted.status), "\(adopted.stderr)")
            try await start(.tablet)
        }

        func addBundle() async throws {
            try await desk.run("copy", "S.sqlite", "--as", "S.base.sqlite", "-q").expectSuccess()
            _ = try await desk.run("bases", "--remove", "S", "-q")
            try await desk.run("bases", "--add", "S.base.sqlite", "-q").expectSuccess()
        }

        /// Another phone goes on with the store, as its owner allows it to.
        func changePhone() async throws {
            // What an owner does with what is settled.
            try source.commit()
            try await settle()
            for part in [Part.sender, .listener] { try await end(part) }
            phone = phone == "phone" ? "new phone" : "phone"
            for device in ["tablet", "watch"] { try await trust(phone, by: device, "--takes-over", "S") }
            for part in [Part.sender, .listener] { try await start(part) }
        }

        /// Each holds one commit, and never an older one than before.
        func look() throws {
            for (device, before) in seen {
                let tick = try TickingStore.tick(of: desk["\(device)-inbox/S.sqlite"]) ?? 0
                #expect(tick >= before && tick <= source.tick, "\(device): \(before), then \(tick)")
                seen[device] = tick
            }
        }

        /// Waits until each has the last commit.
        func settle() async throws {
            try await desk.waitUntil(within: .seconds(60)) {
                try look()
                return seen.values.allSatisfy { $0 == source.tick }
            }
        }

        /// What they have said, for a failure.
        var words: String { programs.map { "\($0.key): \($0.value.text(.error))" }.joined(separator: "\n") }
    }

    @Test(arguments: Soak.isOn ? 1...30 : 1...2)
    func `whatever happens on the way, who is at its end holds one commit, never an older one, and in the end the last`(
        run: Int
    ) async throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        var random = RepeatableRandom(seed: seed)
        let house = try await Household()
        try await house.addBundle()
        try await house.desk.run("adopt", "S.base.sqlite", "--into", "tablet-inbox", "-q").expectSuccess()
        for part in Part.allCases { try await house.start(part) }
        var story: [String] = []
        do {
            for _ in 0..<(Soak.isOn ? 60 : 16) {
                let event = Event.allCases.randomElement(using: &random) ?? .commit
                story.append("\(event)")
                switch event {
                case .commit: try house.source.commit()
                case .burst: for _ in 0..<Int.random(in: 2...30, using: &random) { try house.source.commit() }
                case .vacuum: try house.source.run("VACUUM")
                case .kill, .killRelay:
                    let part = event == .kill ? Part.allCases.randomElement(using: &random) ?? .watch : .relay
                    try await house.end(part)
                    try await house.start(part)
                case .otherWay:
                    try await house.end(.watch)
                    house.isRelayed.toggle()
                    try await house.start(.watch)
                case .otherPhone: try await house.changePhone()
                case .nextBundle: try await house.bringBundle(forgetting: false)
                case .forgottenBundle: try await house.bringBundle(forgetting: true)
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...400, using: &random)))
                try house.look()
            }
            // What was adopted has no signature, and is not passed on.
            try house.source.commit()
            try await house.settle()
        } catch {
            Issue.record("seed \(seed): \(error), \(house.seen) of \(house.source.tick): \(story)\n\(house.words)")
        }
        try house.source.close()
        for part in [Part.watch, .relay, .sender, .listener, .tablet] { try await house.end(part, with: SIGINT) }
        #expect(try house.desk.leftovers == [], "seed \(seed): \(story)")
    }
}
