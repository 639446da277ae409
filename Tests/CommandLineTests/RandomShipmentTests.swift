import Foundation
import RandomStores
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Stores that nobody chose, and their changes, through the program: into files and over a link, whole and as what has changed. See
/// `RandomStoreTests` for the codec alone, which meets far more of them.
@Suite struct RandomShipmentTests {
    private static let failureLimit = Soak.isOn ? 30 : 3
    /// Why a shipment may begin again. Anything else is a bug of an encoder.
    private static let allowedCauses: Set = ["unsuitable", "fastLink", "largeDelta"]

    @Test func `stores that nobody chose arrive, and so do their changes`() async throws {
        let end = ContinuousClock.now + RandomSeeds.time(short: 20, long: 900)
        var (seed, failures) = (RandomSeeds.first, 0)
        repeat {
            let made = RandomCase(seed: seed)
            do {
                try await Journey(made, level: ["auto", "1", "4", "6", "9"][Int(seed % 5)]).run()
            } catch {
                failures += 1
                let file = NSTemporaryDirectory() + "random-shipment-\(seed).sql"
                try Data(made.sql.utf8).write(to: URL(fileURLWithPath: file))
                Issue.record("seed \(seed): \(error); the store is in \(file)")
            }
            seed += 1
        } while .now < end && failures < Self.failureLimit && !RandomSeeds.isOne
        print("\(seed - RandomSeeds.first) stores, from seed \(RandomSeeds.first) on")
    }

    private struct Failure: Error, CustomStringConvertible { let description: String }

    /// What a store goes through.
    private struct Journey {
        private let desk: Desk
        private let made: RandomCase
        private let options: [String]

        init(_ made: RandomCase, level: String) throws {
            desk = try Desk()
            self.made = made
            options = ["--level", level, "--json", "-q", "--allow-missing-external"]
        }

        func run() async throws {
            let store = try MadeRandomStore(made.store, at: desk["Store.sqlite"])
            defer { try? store.close() }
            try await ship()
            try compareFiles(made.store.files)
            try await write("1.shipment")
            for (number, turn) in made.turns.enumerated() {
                store.run(turn)
                try await ship()
                // The second time over an older generation.
                try await write("\(number + 2).shipment", "--since", "1.shipment")
            }
            // Before a rollback there are two generations at least, and once it is released the receiver takes nothing but another store.
            store.run([.statements("PRAGMA user_version = 1000")])
            try await ship()
            _ = try await run(["rollback", "Store", "--into", "inbox"])
            _ = try await run(["rollback", "Store", "--into", "inbox", "--release"])
            store.run([.statements("PRAGMA user_version = 2000")])
            try await ship()
            guard try desk.leftovers == [] else { throw Failure(description: "left behind: \(try desk.leftovers)") }
        }

        /// Over a link, both ways.
        private func ship() async throws {
            // A store that has lost all its rows is taken for another one without `--replace`.
            try await send("exec:$SHIP receive --into inbox --replace Store --from - -q")
            try compare("inbox")
        }

        /// Into a file, which another receiver gets.
        private func write(_ file: String, _ more: String...) async throws {
            try await send("./\(file)", more)
            _ = try await run(["receive", "--into", "other", "--replace", "Store", "--from", "./\(file)", "-q"])
            try compare("other")
        }

        private func send(_ target: String, _ more: [String] = []) async throws {
            let outcome = try await run(["send", "Store.sqlite", "--to", target] + options + more)
            let causes = try outcome.objects().filter { $0["event"] as? String == "started-again" }.map {
                $0["cause"] as? String ?? ""
            }
            guard RandomShipmentTests.allowedCauses.isSuperset(of: causes) else {
                throw Failure(description: "send to \(target) began again: \(causes)")
            }
        }

        private func run(_ arguments: [String]) async throws -> ChildProgram.Outcome {
            let outcome = try await desk.run(arguments)
            guard outcome.status == .exited(0) else {
                throw Failure(description: "\(arguments.joined(separator: " ")): \(outcome.status), \(outcome.stderr)")
            }
            return outcome
        }

        private func compare(_ inbox: String) throws {
            guard try desk.hasInstalled("Store", in: inbox, from: "Store.sqlite") else {
                throw Failure(description: "other rows in \(inbox)")
            }
        }

        /// - Parameter files: To which rows refer, by their names.
        private func compareFiles(_ files: [String: [UInt8]]) throws {
            for (name, content) in files {
                let file = desk["inbox"].appending(".Store_SUPPORT").appending("_EXTERNAL_DATA").appending(name)
                guard try Data(contentsOf: URL(fileURLWithPath: file.string)) == Data(content) else {
                    throw Failure(description: "another external file \(name)")
                }
            }
        }
    }
}
