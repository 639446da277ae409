import ArgumentParser
import ShipStore
import SystemPackage

struct PruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove generations that nobody needs any more, and what broke off.",
        usage: "ship-store prune --into <folder> [<name>] [<options>]",
        discussion: """
            A generation goes if it is beyond the newest of its store and, with --keep-for, was installed longer ago than \
            that. The current one never goes, and one that a reader holds goes at the next pruning. What was current until \
            less than two seconds ago goes once they are over, for which this waits: a reader may have looked up its name. A \
            receiver may be at work; it prunes too, as its own --keep and --keep-for say. What has come of a shipment that broke \
            off, and waits for the rest, goes in any case.

              ship-store prune --into inbox
              ship-store prune --into inbox Recipes --keep 1
              ship-store prune --into inbox --keep 2 --keep-for 7d --dry-run
            """)

    @Option(help: ArgumentHelp("The inbox.", valueName: "folder"), completion: .directory)
    var into: String

    @Argument(help: "The store's name; all stores without it.", transform: StoreNameArgument.read)
    var name: StoreNameArgument?

    @OptionGroup var retention: RetentionArguments

    @Flag(help: "Remove nothing, and say what would go.")
    var dryRun = false

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await Running.run(console) { [into, name, retention = retention.retention, dryRun, output] in
            let pruning = GenerationPruning(of: Inbox(at: FilePath(into)), keeping: retention)
            let findings = try pruning.run(on: name?.name, dryRun ? .onlyLook : .remove)
            for finding in findings {
                if output.json {
                    Output.write(json: PruneLine(finding))
                } else {
                    let what = finding.generation.map { "\($0)" } ?? "a shipment that broke off"
                    Output.write("\(finding.outcome.words)  \(finding.name)  \(what)")
                }
            }
            if findings.isEmpty { console.say("nothing is to go") }
        }
    }
}

extension GenerationPruning.Finding.Outcome {
    /// For programs.
    fileprivate var word: String {
        switch self {
        case .removed, .held: rawValue
        case .superfluous: "would-remove"
        }
    }

    fileprivate var words: String {
        switch self {
        case .removed: "removed"
        case .held: "held   "
        case .superfluous: "would go"
        }
    }
}

private struct PruneLine: Encodable {
    let name: String
    /// `null` for a shipment that broke off.
    let generation: Int?
    let outcome: String

    init(_ finding: GenerationPruning.Finding) {
        name = finding.name.text
        generation = finding.generation
        outcome = finding.outcome.word
    }
}

/// How many generations stay, and for how long.
struct RetentionArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp("How many generations of each store to keep, the current one included.", valueName: "count"))
    var keep = 3

    @Option(
        help: ArgumentHelp(
            "Keep those beyond that number for this long after they were installed: 90s, 15m, 12h, 7d or 2w.",
            valueName: "time"), transform: AgeArgument.read)
    var keepFor: AgeArgument?

    func validate() throws {
        if keep < 1 { throw ValidationError("--keep takes a number from 1 on") }
    }

    var retention: Retention { Retention(count: keep, duration: keepFor?.duration) }
}
