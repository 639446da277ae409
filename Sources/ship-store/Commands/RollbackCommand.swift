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
            what they have open. What was current stays until it is pruned, and for two seconds in any case. From then on the \
            store is held: its shipments are refused, until you say --release, or go forward to the newest one again. The very \
            store that was rolled back is refused after that, too, until you go forward to it, or say --allow-again.

              ship-store rollback Recipes --into inbox
              ship-store rollback Recipes --into inbox --to 7
              ship-store rollback Recipes --into inbox --release
              ship-store rollback Recipes --into inbox --allow-again
            """)

    @Argument(help: "The store's name, as `ship-store list` shows it.", completion: .stores, transform: StoreName.read)
    var name: StoreName

    @Option("The inbox.", .folder) var into: FilePath

    @Option(help: ArgumentHelp("The number of the generation that is to be current.", valueName: "generation"))
    var to: Int?

    @Flag(help: "Switch nothing, and let shipments of the store come in again.")
    var release = false

    @Flag(help: "The same, and let what was rolled back come in again, too.")
    var allowAgain = false

    @OptionGroup(title: "Check options") var check: CheckArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        let chosen = [to == nil ? nil : "--to", release ? "--release" : nil, allowAgain ? "--allow-again" : nil]
            .compactMap(\.self)
        if chosen.count > 1 { throw ValidationError("\(chosen[0]) and \(chosen[1]) exclude each other") }
        if let to, to < 1 { throw ValidationError("generations are numbered from 1") }
    }

    func run() async throws {
        try await output.run { [name, into, to, release, allowAgain, output, checking = check.options] console in
            let inbox = Inbox(at: into)
            if release {
                let wasHeld = try Rollback.release(name, in: inbox)
                console.say(wasHeld ? "shipments of \(name) come in again" : "\(name) was not held")
                if output.json { Output.write(["name": name.text, "released": wasHeld]) }
            } else if allowAgain {
                let count = try Rollback.allowAgain(name, in: inbox)
                console.say(Self.words(forAllowing: count, name))
                if output.json { Output.write(["name": name.text, "allowedAgain": count]) }
            } else {
                let rollback = try await Rollback.perform(on: name, in: inbox, to: to, checking: checking)
                console.say(Self.words(for: rollback, name))
                if rollback.isOnHold {
                    console.say(
                        "no shipment of \(name) comes in until `ship-store rollback \(name) --into \(inShell: into) --release`"
                    )
                }
                output.write([
                    "name": rollback.to.manifest.name.text, "from": rollback.from,
                    "to": rollback.to.number, "onHold": rollback.isOnHold,
                ])
            }
        }
    }

    private static func words(for rollback: Rollback, _ name: StoreName) -> PrintableText {
        let to = rollback.to.number
        guard let from = rollback.from else { return "generation \(to) of \(name) is current" }
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
