import ArgumentParser
import ShipStore
import SystemPackage

struct CopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Take a consistent, compact copy of a live store into a folder of this device.",
        usage: "ship-store copy <store> --to <folder> [<options>]",
        discussion: """
            The copy is one file, BASENAME-yyyyMMddTHHmmss.sqlite (UTC), with its external files beside it. Its path goes \
            to standard output.

              ship-store copy Recipes.sqlite --to backups
              ship-store copy Recipes.sqlite --to backups --strip-history --exclude ZDRAFT
            """)

    @Argument(help: "The store: a SQLite file, with its -wal and its external files beside it.")
    var store: String

    @Option(help: ArgumentHelp("The folder, made if it is not there.", valueName: "folder"))
    var to: String

    @OptionGroup(title: "Copy options") var copy: CopyArguments
    @OptionGroup(title: "What to leave out") var leaving: ProfileArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        let options = copy.copyOptions(leavingOut: leaving)
        try await Running.run(console) { [store, to, output] in
            let copy = try await LocalCopy.take(of: FilePath(store), into: FilePath(to), options: options)
            console.say("copied \(store): \(copy.manifest.summary) to \(copy.path)")
            OmissionWords(copy.manifest, askedFor: options.profile).lines.forEach(console.say)
            for missing in copy.manifest.missingExternalFiles {
                console.warn("copied without \(missing.relativePath), which is not there")
            }
            if output.json {
                Output.write(json: CopyLine(path: copy.path.string, manifest: copy.manifest))
            } else {
                Output.write(copy.path.string)
            }
        }
    }
}

private struct CopyLine: Encodable {
    let path: String
    let manifest: Manifest
}
