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

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await Running.run(console) { [output] in
            try await Demo { text in
                console.say("\(text)")
                if output.json { Output.write(json: StepLine(text: text)) }
            }.run()
        }
    }
}

private struct StepLine: Encodable {
    let event = "step"
    let time = EventTime()
    let text: String
}
