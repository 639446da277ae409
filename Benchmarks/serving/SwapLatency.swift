import Foundation
import GRDB
import ShipStore
import ShipStoreNetwork
import StoreFiles
import Subprocess
import SystemPackage

/// From the receipt for a shipment until a reader that waits for changes in another process has read it.
struct SwapLatency {
    struct Figures: Encodable {
        let swaps: Int
        /// Of the latency, in milliseconds. Below zero where the reader was done before the receiver had its receipt.
        let median: Double
        let p99: Double
        let longest: Double
        /// Swaps of which the reader was not told one by one: the next one came too soon.
        let merged: Int
    }

    private static let swaps = 300

    private let store: BenchStore
    private let inbox: FilePath

    init(of store: BenchStore, in folder: FilePath) {
        self.store = store
        inbox = folder.appending("inbox-of-swaps")
    }

    func measure() async throws -> Figures {
        let consumer = try Consumer(inbox: inbox)
        _ = try await consumer.receive(from: .file(store.shipments[1]))
        var platform = PlatformOptions()
        platform.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(2))]
        let program = FilePath(Bundle.main.executablePath ?? CommandLine.arguments[0])
        var latencies: [Double] = []
        _ = try await Subprocess.run(
            .path(program), arguments: ["wait", inbox.string], platformOptions: platform, input: .none,
            output: .sequence, error: .currentStandardError
        ) { execution in
            var lines = execution.standardOutput.strings().makeAsyncIterator()
            _ = try await lines.next()
            for number in 0..<Self.swaps {
                guard let receipt = try await consumer.receive(from: .file(store.shipments[number % 2])).first else {
                    continue
                }
                let received = PlatformCalls.timeOfDay
                while let line = try await lines.next() {
                    let seen = line.split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
                    guard seen.count == 2, seen[0] >= receipt.generation else { continue }
                    latencies.append((.nanoseconds(seen[1]) - received) / .milliseconds(1))
                    break
                }
            }
            await execution.teardown(using: platform.teardownSequence)
        }
        return Figures(
            swaps: latencies.count, median: latencies.quantile(0.5) ?? 0, p99: latencies.quantile(0.99) ?? 0,
            longest: latencies.max() ?? 0, merged: Self.swaps - latencies.count)
    }
}

/// Says of each new generation when it has read it: its number, and nanoseconds since 1970.
struct WaitingReader {
    private let inbox: FilePath

    init(of inbox: FilePath) { self.inbox = inbox }

    func run() async throws {
        let coordinator = StoreCoordinator(inbox: inbox)
        let changes = try coordinator.changes()
        try say("0 0")
        for await case .generation(let change) in changes {
            let rows = try await coordinator.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM entry") }
            guard rows == BenchStore.rows else { return }
            try say("\(change.to.number) \(Int64(PlatformCalls.timeOfDay / .nanoseconds(1)))")
        }
    }

    private func say(_ line: String) throws { try FileDescriptor.standardOutput.writeAll("\(line)\n".utf8) }
}
