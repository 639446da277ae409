import ArgumentParser
import ShipStore
import StoreFiles
import SystemPackage

/// How a command that runs for long tells programs how it goes.
struct MonitoringArguments: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument { case text, json }

    @Option(help: "The lines on standard error: text for people, or json, one object a line.")
    var logFormat: Format = .text

    @Option(
        help: ArgumentHelp(
            """
            Keep figures for Prometheus here: a file that node_exporter's textfile collector reads, replaced in one step, at most \
            once a second.
            """, valueName: "file"), completion: .file(extensions: ["prom"]), transform: Self.readMetrics)
    var metrics: FilePath?

    /// A store, or a file of its own, may come under such a name.
    @Sendable private static func readMetrics(_ text: String) throws -> FilePath {
        if let ending = [".sqlite", "-wal", "-shm", "-journal"].first(where: text.hasSuffix) {
            throw ValidationError("what ends in \(ending) is a store's: choose another name, as figures.prom")
        }
        let path = try FilePath.readFile(text)
        if (try? PlatformCalls.status(of: path).kind) == .folder {
            throw ValidationError("it is a folder: name a file in it, as figures.prom")
        }
        return path
    }

    /// - Parameter goesOn: Whether the command goes on for long, so that people want to know when something was.
    func format(goesOn: Bool) -> LogFormat { logFormat == .json ? .json : .text(stamped: goesOn) }
}
