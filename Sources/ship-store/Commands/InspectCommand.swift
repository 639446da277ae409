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
            Of a shipment the size of its file is said too. Then comes what of it is not the app's data, with the option of \
            `send` that leaves it out, if there is one: Core Data's history and its copy of the model, indexes for full \
            text, and what ANALYZE has noted.

            With --html FILE the same goes into one page for a browser as well, column by column, as a map that can be \
            clicked through; it needs no other file and no network. A page of this program is replaced in one step, \
            another file only with --force.

              ship-store inspect Recipes.sqlite
              ship-store inspect Recipes.sqlite --level 6
              ship-store inspect inbox
              ship-store inspect monday.shipment
              ship-store inspect Recipes.sqlite --html recipes.html
            """)

    @Argument(
        help: "What to inspect: a store, a shipment file, a generation's folder, or an inbox.", completion: .file())
    var path: String

    @Option(
        help: ArgumentHelp(
            "What it takes at this level of `send`; \(LevelArgument.auto) is what `send` takes into a file. (default: \(LevelArgument.auto))",
            valueName: "level"), transform: LevelArgument.read)
    var level: LevelArgument = .auto

    @Option(
        help: ArgumentHelp("Write a page for a browser, too: where the bytes are.", valueName: "file"),
        completion: .file(extensions: ["html"]))
    var html: String?

    @Flag(help: "Replace a file that is there and is no page of this program; never what is inspected.")
    var force = false

    @OptionGroup(title: "Copy options") var copy: CopyArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        if force, html == nil { throw ValidationError("--force is for the file of --html") }
        if html == "-" { throw ValidationError("--html wants a file: standard output has the tables") }
        if html?.isEmpty == true { throw ValidationError("--html wants a file") }
    }

    func run() async throws {
        let console = output.console
        try await Running.run(console) {
            [path, output, html, force, options = copy.copyOptions, effort = level.effort] in
            let artifact = try Artifact(at: FilePath(path))
            let page = try html.map { html throws(ShipmentError) in
                try ReportFile(
                    FilePath(html), about: artifact, beginning: InspectionPage.start,
                    over: force ? .anything : .reports)
            }
            let inspections = try await Inspection.all(of: artifact, options: options, effort: effort)
            if let page {
                try page.write(InspectionPage(inspections).html)
                console.say("wrote \(page.path)")
            }
            for inspection in inspections {
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
        let parts: [Part]

        init(_ table: TableStatistics) {
            (name, rows, size, cost) = (table.name, table.rows, table.size, table.cost)
            parts = table.parts.map(Part.init)
        }
    }

    struct Part: Encodable {
        /// `column`, `rowids`, `longRows` or `indexes`.
        let kind: String
        /// Of a column.
        let name: ForeignText?
        let cost: Int64

        init(_ part: TableStatistics.Part) {
            cost = part.cost
            switch part.kind {
            case .column(let name): (kind, self.name) = ("column", name)
            case .rowids: (kind, name) = ("rowids", nil)
            case .longRows: (kind, name) = ("longRows", nil)
            case .indexes: (kind, name) = ("indexes", nil)
            }
        }
    }

    struct BallastItem: Encodable {
        /// `history`, `modelCache`, `fullTextIndex` or `statistics`.
        let kind: String
        /// The table that an index is of.
        let name: ForeignText?
        let tables: [ForeignText]
        let cost: Int64
        /// The option of `send` that leaves it out.
        let option: String?

        init(_ ballast: Ballast) {
            switch ballast.kind {
            case .history: (kind, name) = ("history", nil)
            case .modelCache: (kind, name) = ("modelCache", nil)
            case .fullTextIndex(let table): (kind, name) = ("fullTextIndex", table)
            case .statistics: (kind, name) = ("statistics", nil)
            }
            (tables, cost, option) = (ballast.tables, ballast.cost, BallastWords(ballast).option)
        }
    }

    let manifest: Manifest
    /// The id of the device that signed a shipment.
    let signer: DeviceIdentifier?
    let tables: [Table]
    let ballast: [BallastItem]
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
        tables = inspection.tables.map(Table.init)
        ballast = inspection.ballast.map(BallastItem.init)
    }
}
