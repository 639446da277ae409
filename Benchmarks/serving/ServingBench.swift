import FoundationEssentials
import GRDB
import ShipStore
import StoreFiles
import SystemPackage

/// What reading through the coordinator costs, and how long a reader in another process waits for a new generation. Prints
/// one JSON object.
///
///     serving-bench               measures
///     serving-bench wait INBOX    is the waiting reader
@main
struct ServingBench {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == "wait" {
            return try await WaitingReader(of: FilePath(arguments[2])).run()
        }
        let folder = try TemporaryFolder()
        let store = try BenchStore(in: folder.path)
        let figures = Figures(
            reads: try await ReadCost(of: store, in: folder.path).measure(),
            swap: try await SwapLatency(of: store, in: folder.path).measure())
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        print(String(decoding: try encoder.encode(figures), as: UTF8.self))
    }

    private struct Figures: Encodable {
        let reads: [ReadCost.Figures]
        let swap: SwapLatency.Figures
    }
}

extension Array where Element: Comparable {
    /// - Parameter share: 0.5 for the median.
    func quantile(_ share: Double) -> Element? {
        isEmpty ? nil : sorted()[Swift.min(count - 1, Int(Double(count) * share))]
    }
}
