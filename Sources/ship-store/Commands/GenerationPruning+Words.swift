import ArgumentParser
import ShipStore
import SystemPackage

struct RollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Make an older generation of a store current again.",
        usage: "ship-store rollback <name> --into <folder> [<options>]",
        discussion: """
            Goes back to the newest older generation from which nobody has gone back, or to any that is kept, older or \
            newer, with --to. It is verified first, and switched in one step; a receiver may be at work, and readers keep \
            what they have open. What was current stays until it is pruned, and for two seconds in any case. From then on a shipment of the very store that was rolled back is refused, until you \
            go forward to it again, or say --allow-again.

              ship-store rollback Recipes --into inbox
              ship-store rollback Recipes --into inbox --to 7
              ship-store rollback Recipes --into inbox --allow-again
            """)

    @Argument(
        help: "The store's name, as `ship-store list` shows it.", completion: .stores, transform: StoreName.read)
    var name: StoreName

    @Option(
        help: ArgumentHelp("The inbox.", valueName: "folder"), completion: .directory,
        transform: FilePath.readFolder)
    var into: FilePath

    @Option(help: ArgumentHelp("The number of the generation that is to be current.", valueName: "generation"))
    var to: Int?

    @Flag(help: "Switch nothing, and let what was rolled back come in again.")
    var allowAgain = false

    @OptionGroup(title: "Check options") var check: CheckArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        if allowAgain, to != nil { throw ValidationError("--to and --allow-again exclude each other") }
        if let to, to < 1 { throw ValidationError("generations are numbered from 1") }
    }

    func run() async throws {
        let console = output.console
        try await console.run { [name, into, to, allowAgain, output, checking = check.options] in
            let inbox = Inbox(at: into)
            if allowAgain {
                let count = try Rollback.allowAgain(name, in: inbox)
                console.say(Self.words(forAllowing: count, name))
                if output.json { Output.write(object: ["name": name.text, "allowedAgain": count]) }
            } else {
                let rollback = try await Rollback.perform(on: name, in: inbox, to: to, checking: checking)
                console.say(Self.words(for: rollback, name))
                if output.json {
                    Output.write(
                        object: [
                            "name": rollback.to.manifest.name.text, "from": rollback.from.number,
                            "to": rollback.to.number,
                        ])
                }
            }
        }
    }

    private static func words(for rollback: Rollback, _ name: StoreName) -> PrintableText {
        let (from, to) = (rollback.from.number, rollback.to.number)
        if from == to { return "generation \(to) of \(name) is current already" }
        let step = to < from ? "rolled back" : "went forward"
        return "\(step): generation \(to) of \(name) is current, and \(from) is not any more"
    }

    private static func words(forAllowing count: Int?, _ name: StoreName) -> PrintableText {
        switch count {
        case nil: "started the record of \(name) anew: every shipment may come in"
        case 0: "no generation of \(name) was refused"
        case let count?: "\(count) generation\(count == 1 ? "" : "s") of \(name) may come in again"
        }
    }
}

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

    @Option(
        help: ArgumentHelp("The inbox.", valueName: "folder"), completion: .directory,
        transform: FilePath.readFolder)
    var into: FilePath

    @Argument(help: "The store's name; all stores without it.", completion: .stores, transform: StoreName.read)
    var name: StoreName?

    @OptionGroup var retention: RetentionArguments

    @Flag(help: "Remove nothing, and say what would go.")
    var dryRun = false

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await console.run { [into, name, retention = retention.retention, dryRun, output] in
            let findings = try GenerationPruning.perform(
                on: name, in: Inbox(at: into), keeping: retention, dryRun: dryRun)
            for finding in findings {
                if output.json {
                    Output.write(
                        object: [
                            "name": finding.name.text,
                            // Left out for a shipment that broke off.
                            "generation": finding.generation, "outcome": finding.outcome.word,
                        ])
                } else {
                    let what = finding.generation.map { "\($0)" } ?? "a shipment that broke off"
                    Output.write("\(finding.outcome.words)  \(finding.name)  \(what)")
                }
            }
            if findings.isEmpty { console.say("nothing is to go") }
        }
    }
}

extension GenerationPruning.Outcome {
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

/// How many generations stay, and for how long.
struct RetentionArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp("How many generations of each store to keep, the current one included.", valueName: "count"))
    var keep = 3

    @Option(
        help: ArgumentHelp(
            "Keep those beyond that number for this long after they were installed: 90s, 15m, 12h, 7d or 2w.",
            valueName: "time"), transform: Duration.readAge)
    var keepFor: Duration?

    func validate() throws {
        if keep < 1 { throw ValidationError("--keep takes a number from 1 on") }
    }

    var retention: Retention { Retention(count: keep, duration: keepFor) }
}

struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove a store with all its generations from an inbox.",
        usage: "ship-store forget <name> --into <folder> [<options>]",
        discussion: """
            Everything goes in one step, or nothing: while a reader holds one of the generations, all of them stay. What is \
            known of the store goes too: from which device it came, how far its numbers have risen, and what was rolled \
            back; so the next shipment of that name is a first one. A receiver may be at work. Where an earlier run was \
            killed, this does the rest.

              ship-store forget Recipes --into inbox
            """)

    @Argument(
        help: "The store's name, as `ship-store list` shows it.", completion: .stores, transform: StoreName.read)
    var name: StoreName

    @Option(
        help: ArgumentHelp("The inbox.", valueName: "folder"), completion: .directory, transform: FilePath.readFolder)
    var into: FilePath

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await console.run { [name, into, output] in
            let forgetting = try await Forgetting.perform(on: name, in: Inbox(at: into))
            let count = forgetting.generations.count
            console.say(
                count == 0
                    ? "forgot \(name): what was left of it is gone"
                    : "forgot \(name): \(count) generation\(count == 1 ? " is" : "s are") gone")
            if let lease = forgetting.leasedUntil {
                console.warn(
                    "a sender was told, in a holdings file, that \(name) is held until \(lease.text): what it sends for that file "
                        + "is refused. Give it a new one once the store has come again")
            }
            if output.json {
                Output.write(
                    object: [
                        "name": forgetting.name.text, "generations": forgetting.generations,
                        "leasedUntil": forgetting.leasedUntil?.text,
                    ])
            }
        }
    }
}
