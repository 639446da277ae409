import ArgumentParser
import ShipStore
import SystemPackage

struct AdoptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Make a copy that came with the app the first generation of a store.",
        usage: "ship-store adopt <file> --into <folder> [--as <name>] [<options>]",
        discussion: """
            The file is a copy that `ship-store copy STORE --as NAME.base.sqlite` has made, with its external files beside it. It is \
            verified like a shipment, and becomes current in one step; the file itself is left alone, and may be on a medium that cannot \
            be written to. Where the file system clones, no bytes of it are copied. From then on a sender that may send the store may know \
            of it, and sends only what has changed since, if it has the same file: `ship-store bases --add`. A store that is in the inbox \
            already is refused, and the very same one is said to be unchanged. No receiver may be at work.

              ship-store copy Recipes.sqlite --as Recipes.base.sqlite
              ship-store adopt Recipes.base.sqlite --into inbox
              ship-store adopt Recipes.base.sqlite --into inbox --as Recipes-en
            """)

    @Argument(help: "The copy.", completion: .file())
    var file: FilePath

    @Option("The inbox, made if it is not there.", .folder) var into: FilePath

    @Option(name: .customLong("as"), "The store's name. (default: the file's, without .base and extension)", .name)
    var name: StoreName?

    @OptionGroup(title: "Check options") var check: CheckArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        try await output.run { [file, into, name, output, checking = check.options] console in
            // A path that was mistyped makes no inbox.
            _ = try Artifact(at: file)
            var options = Consumer.Options()
            options.checking = checking
            // Which generations stay is for receivers to say.
            options.kept = .max
            let consumer = try Consumer(inbox: into, options: options)
            let adoption = try await consumer.leavingNoEmptyInbox { try await consumer.adopt(file, as: name?.text) }
            let generation = adoption.generation
            let manifest = generation.manifest
            switch adoption.outcome {
            case .adopted:
                console.say("adopted \(manifest.name) as generation \(generation.number): \(manifest.summary)")
            case .unchanged: console.say("unchanged: \(manifest.name), generation \(generation.number)")
            }
            guard output.json else { return }
            Output.write([
                "name": manifest.name.text, "outcome": adoption.outcome.rawValue, "generation": generation.number,
                // Bytes of the store, and of its external files.
                "size": manifest.totalSize, "externalFiles": manifest.externalFiles.count,
                "sha256": manifest.store.sha256.hex,
                // Of the store in the generation.
                "path": generation.storePath.text,
            ])
        }
    }
}
