import ArgumentParser
import FoundationEssentials
import StoreFiles
import SystemPackage

/// It works on one thread; whoever starts it keeps it on one core.
@main
struct CodecBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "codec-bench",
        abstract: "What the store-aware codec costs in time, beside zlib and SQLite over the same vacuumed file.",
        discussion: "Prints a JSON array: one object a store.")

    @Flag(help: "Stores are pairs, of which each first one is the base of a delta that gives the second.")
    var deltas = false

    @Option(help: "Where base, result and delta of the last pair are kept: a folder.") var keep: String?

    @Argument(help: "Turns; what takes less than a few milliseconds is taken more often.") var runs: Int
    @Argument(help: "Their paths.") var stores: [String]

    func validate() throws {
        guard runs > 0 else { throw ValidationError("RUNS is at least 1.") }
        guard !deltas || stores.count % 2 == 0 else { throw ValidationError("Stores come in pairs.") }
        guard !stores.isEmpty else { throw ValidationError("At least one store is needed.") }
    }

    func run() async throws {
        guard !deltas else { return try await runDeltas() }
        var results: [StoreFigures] = []
        for path in stores.map({ FilePath($0) }) {
            let folder = try TemporaryFolder()
            let store = try await BenchedStore.take(path, in: folder.path)
            results.append(try StoreFigures(of: store, runs: runs, in: folder.path))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        print(String(decoding: try encoder.encode(results), as: UTF8.self))
    }

    private func runDeltas() async throws {
        var results: [DeltaWork.Figures] = []
        for index in stride(from: 0, to: stores.count, by: 2) {
            let folder = try TemporaryFolder()
            let work = DeltaWork(
                base: FilePath(stores[index]), new: FilePath(stores[index + 1]), folder: folder.path,
                kept: keep.map { FilePath($0) })
            results.append(try await work.run())
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        print(String(decoding: try encoder.encode(results), as: UTF8.self))
    }
}
