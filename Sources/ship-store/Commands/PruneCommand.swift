import ArgumentParser
import ShipStore
import SystemPackage

struct PruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove generations that nobody needs any more, and what broke off.",
        usage: "ship-store prune --into <folder> [<name>] [<options>]",
        discussion: """
            Of each store as many generations stay as --keep says: the current one, the newest of the others, and of the rest \
            those that tell most of the last day. With --keep-for the others go only if they were installed longer ago than that. One that a reader holds goes at the next pruning. What was current until \
            less than two seconds ago goes once they are over, for which this waits: a reader may have looked up its name. A \
            receiver may be at work; it prunes too, as its own --keep and --keep-for say. What has come of a shipment that broke \
            off, and waits for the rest, goes in any case.

              ship-store prune --into inbox
              ship-store prune --into inbox Recipes --keep 1
              ship-store prune --into inbox --keep 2 --keep-for 7d --dry-run
            """)

    @Option("The inbox.", .folder) var into: FilePath

    @Argument(help: "The store's name; all stores without it.", completion: .stores, transform: StoreName.read)
    var name: StoreName?

    @OptionGroup var retention: RetentionArguments

    @Flag(help: "Remove nothing, and say what would go.")
    var dryRun = false

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        try await output.run { [into, name, retention = retention.retention, dryRun, output] console in
            let findings = try GenerationPruning.perform(
                on: name, in: Inbox(at: into), keeping: retention, dryRun: dryRun
            ) { finding in
                output.write([
                    "name": finding.name.text,
                    // Left out for a shipment that broke off.
                    "generation": finding.generation,
                    "outcome": finding.outcome == .superfluous ? "would-remove" : finding.outcome.rawValue,
                ]) {
                    let what = finding.generation.map { "\($0)" } ?? "a shipment that broke off"
                    Output.write("\(finding.outcome.words)  \(finding.name)  \(what)")
                }
            }
            if findings.isEmpty { console.say("nothing is to go") }
        }
    }
}

extension GenerationPruning.Outcome {
    fileprivate var words: String {
        switch self {
        case .removed: "removed"
        case .held: "held   "
        case .superfluous: "would go"
        }
    }
}
