import ArgumentParser
import ShipStore
import SystemPackage

/// The demo's writer process: not for people.
struct DemoWriterCommand: AsyncParsableCommand {
    static let name = "demo-writer"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var store: FilePath

    func run() async throws {
        try await Console(isQuiet: true).run(whenStopped: .success, isEndless: true) { [store] in
            Output.write(["event": "writing"])
            try await DemoStore(path: store).transfer()
        }
    }
}
