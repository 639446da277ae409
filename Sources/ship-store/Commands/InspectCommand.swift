import ArgumentParser
import ShipStore
import SystemPackage

struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show what is in a store, a shipment or a generation, and what it costs to ship.",
        usage: "ship-store inspect <path> [<options>]",
        discussion: """
            One line a table, the largest first: its rows, its bytes with its indexes, what they take on the wire, and a bar of that \
            share; then the external files, and all of it. What is larger than 32 MiB is estimated from a part. Of a shipment the size of \
            its file is said too. Then comes what of it is not the app's data, with the option of `send` that leaves it out, if there is \
            one: Core Data's history and its copy of the model, indexes for full text, and what ANALYZE has noted.

            With --html FILE the same goes into one page for a browser as well, column by column, as a map that can be clicked through; it \
            needs no other file and no network. A page of this program is replaced in one step, another file only with --force.

              ship-store inspect Recipes.sqlite
              ship-store inspect Recipes.sqlite --level 6
              ship-store inspect inbox
              ship-store inspect monday.shipment
              ship-store inspect Recipes.sqlite --html recipes.html
            """)

    @Argument(
        help: "What to inspect: a store, a shipment file, a generation's folder, or an inbox.", completion: .file())
    var path: FilePath

    @Option(
        help: ArgumentHelp(
            "What it takes at this level of `send`; auto is what `send` takes into a file. (default: auto)",
            valueName: "level"), completion: Effort.completion, transform: Effort.read)
    var level: Effort = .auto

    @Option(
        help: ArgumentHelp("Write a page for a browser, too: where the bytes are.", valueName: "file"),
        completion: .file(extensions: ["html"]))
    var html: FilePath?

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
        try await output.run { [path, output, html, force, options = copy.copyOptions, effort = level] console in
            let artifact = try Artifact(at: path)
            let page = try html.map { html throws(ShipmentError) in
                try ReportFile(html, about: artifact, replacing: force ? nil : InspectionPage.start)
            }
            let inspections = try await Inspection.all(
                of: artifact, options: options, effort: effort, checking: CheckArguments.usualOptions)
            if inspections.isEmpty { console.say("there is nothing to inspect yet") }
            if let page {
                try page.write(InspectionPage(inspections).html)
                console.say("wrote \(page.path)")
            }
            for inspection in inspections {
                output.write(inspection.json) { inspection.lines.forEach(Output.write) }
            }
        }
    }
}

extension Inspection {
    fileprivate var json: JSONObject {
        [
            "manifest": manifest,
            // The id of the device that signed a shipment.
            "signer": signer, "tables": tables.map(\.json), "ballast": ballast.map(\.json),
            // Bytes that the external files take on the wire, and that all takes.
            "externalCost": externalCost, "cost": cost,
            // Bytes of a shipment's file.
            "fileSize": fileSize,
        ]
    }
}

extension TableStatistics {
    fileprivate var json: JSONObject {
        ["name": name, "rows": rows, "size": size, "cost": cost, "parts": parts.map(\.json)]
    }
}

extension TableStatistics.Part {
    fileprivate var json: JSONObject {
        switch kind {
        case .column(let name): ["kind": "column", "name": name, "cost": cost]
        case .rowids: ["kind": "rowids", "cost": cost]
        case .longRows: ["kind": "longRows", "cost": cost]
        case .indexes: ["kind": "indexes", "cost": cost]
        }
    }
}

extension Ballast {
    fileprivate var json: JSONObject {
        // The option is the one of `send` that leaves it out.
        let members: JSONObject = ["tables": tables, "cost": cost, "option": option]
        return switch kind {
        case .history: members.adding(["kind": "history"])
        case .modelCache: members.adding(["kind": "modelCache"])
        case .fullTextIndex(let table): members.adding(["kind": "fullTextIndex", "name": table])
        case .statistics: members.adding(["kind": "statistics"])
        }
    }
}
