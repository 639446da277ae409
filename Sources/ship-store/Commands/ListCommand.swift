import ArgumentParser
import ShipStore
import SystemPackage

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the stores of an inbox and their generations.",
        discussion: """
            The current generation is marked with a *.

              ship-store list --into inbox
            """)

    @Option(help: ArgumentHelp("The inbox.", valueName: "folder"))
    var into: String

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await Running.run(console) { [into, output] in
            let inbox = Inbox(at: FilePath(into))
            var lines: [GenerationLine] = []
            do throws(InboxError) {
                for name in try inbox.storeNames() {
                    let current = try inbox.current(of: name)?.number
                    for generation in try inbox.generations(of: name) {
                        lines.append(GenerationLine(generation, isCurrent: generation.number == current))
                    }
                }
            } catch {
                throw ShipmentError.install(error)
            }
            if output.json {
                lines.forEach { Output.write(json: $0) }
            } else {
                lines.forEach { Output.write($0.text) }
                if lines.isEmpty { console.say("no store has been installed yet") }
            }
        }
    }
}

private struct GenerationLine: Encodable {
    let name: String
    let generation: Int
    let isCurrent: Bool
    let createdAt: String
    /// Bytes of the store, and of its external files.
    let size: Int64
    let externalFiles: Int
    let sha256: String
    let metadata: [String: String]

    init(_ generation: Generation, isCurrent: Bool) {
        let manifest = generation.manifest
        name = manifest.name.text
        self.generation = generation.number
        self.isCurrent = isCurrent
        createdAt = manifest.createdAt.text
        size = manifest.totalSize
        externalFiles = manifest.externalFiles.count
        sha256 = manifest.store.sha256.hex
        metadata = manifest.metadata
    }

    var text: String {
        let pairs = metadata.sorted { $0.key < $1.key }.map { "  \($0.key)=\(Printable.text($0.value))" }
        let files = externalFiles == 0 ? "" : "  \(externalFiles) external"
        return "\(isCurrent ? "*" : " ") \(name)  \(generation)  \(createdAt)  \(Figures.bytes(size))\(files)"
            + "  \(sha256.prefix(12))\(pairs.joined())"
    }
}
