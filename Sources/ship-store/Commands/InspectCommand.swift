import ArgumentParser
import ShipStore
import SystemPackage

struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show what is in a store, a shipment or a generation, and what it costs to ship.",
        usage: "ship-store inspect <path> [<options>]",
        discussion: """
            One line a table, the largest first: its rows, its bytes with its indexes, what they take on the wire, and a bar \
            of that share; then the external files, and all of it. What is larger than 32 MiB is estimated from a part. \
            Of a shipment the size of its file is said too.

              ship-store inspect Recipes.sqlite
              ship-store inspect Recipes.sqlite --level 6
              ship-store inspect inbox
              ship-store inspect monday.shipment
            """)

    @Argument(
        help: "What to inspect: a store, a shipment file, a generation's folder, or an inbox.", completion: .file())
    var path: String

    @Option(
        help: ArgumentHelp(
            "What it takes at this level of `send`; \(LevelArgument.auto) is what `send` takes into a file. (default: \(LevelArgument.auto))",
            valueName: "level"), transform: LevelArgument.read)
    var level: LevelArgument = .auto

    @OptionGroup(title: "Copy options") var copy: CopyArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await Running.run(console) { [path, output, options = copy.copyOptions, effort = level.effort] in
            let artifact = try Artifact(at: FilePath(path))
            for inspection in try await Inspection.all(of: artifact, options: options, effort: effort) {
                if output.json {
                    Output.write(json: InspectionLine(inspection))
                } else {
                    InspectionTable(inspection).lines.forEach(Output.write)
                }
            }
        }
    }
}

private struct InspectionLine: Encodable {
    struct Table: Encodable {
        let name: ForeignText
        let rows: Int64?
        let size: Int64
        let cost: Int64
    }

    let manifest: Manifest
    /// The id of the device that signed a shipment.
    let signer: DeviceIdentifier?
    let tables: [Table]
    /// Bytes that the external files take on the wire, and that all takes.
    let externalCost: Int64
    let cost: Int64
    /// Bytes of a shipment's file.
    let fileSize: Int64?

    init(_ inspection: Inspection) {
        manifest = inspection.manifest
        signer = inspection.signer
        externalCost = inspection.externalCost
        cost = inspection.cost
        fileSize = inspection.fileSize
        tables = inspection.tables.map { Table(name: $0.name, rows: $0.rows, size: $0.size, cost: $0.cost) }
    }
}
