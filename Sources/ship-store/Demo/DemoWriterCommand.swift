import ArgumentParser
import SystemPackage

/// The demo's writer process: not for people.
struct DemoWriterCommand: AsyncParsableCommand {
    static let name = "demo-writer"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument var store: String

    func run() async throws {
        try await Running.run(Console(.quiet), whenStopped: .success) { [store] in
            Output.write(json: ["event": "writing"])
            try await DemoStore(path: FilePath(store)).transfer()
        }
    }
}
