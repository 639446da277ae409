import FoundationEssentials
import StoreFiles
import SystemPackage

/// What the store-aware codec costs in time, beside zlib and SQLite over the same vacuumed file. Prints a JSON array: one
/// object a store.
///
///     codec-bench RUNS STORE...
///
/// It works on one thread; whoever starts it keeps it on one core.
@main
struct CodecBench {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let runs = arguments.first.flatMap({ Int($0) }), runs > 0, arguments.count > 1 else {
            try FileDescriptor.standardError.writeAll("usage: codec-bench RUNS STORE...\n".utf8)
            throw ExitCode.usage
        }
        var results: [StoreFigures] = []
        for path in arguments.dropFirst().map({ FilePath($0) }) {
            let folder = try TemporaryFolder()
            let store = try await BenchedStore.take(path, in: folder.path)
            results.append(try StoreFigures(of: store, runs: runs, in: folder.path))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        print(String(decoding: try encoder.encode(results), as: UTF8.self))
    }

    private enum ExitCode: Error { case usage }
}
