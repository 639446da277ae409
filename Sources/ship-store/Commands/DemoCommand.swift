import ArgumentParser
import ShipStore

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show the whole story on this machine, in a temporary folder, in seconds.",
        discussion: """
            A store that another process keeps writing to is shipped to a receiver over loopback, changed, and shipped \
            again while a reader holds the first generation. Nothing is left behind.

              ship-store demo
            """)

    func run() async throws {
        let console = Console(.normal)
        try await Running.run(console) { try await Demo(console).run() }
    }
}
