import ArgumentParser
import Foundation
import ShipStore
import SystemPackage

struct CopiesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copies",
        abstract: "List the kept copies in a folder, or remove those that have had their time.",
        usage: """
            ship-store copies --in <folder> [--tag <tag>]
            ship-store copies --in <folder> --prune --keep <n> [--tag <tag>]
            """,
        discussion: """
            The oldest of each store comes first. Pruning keeps the newest of each store, and those younger than \
            --keep-for; it leaves copies with a tag alone, unless --tag names it. What it removes goes to standard output.

              ship-store copies --in kept
              ship-store copies --in kept --tag before-import --json
              ship-store copies --in kept --prune --keep 5 --keep-for 7d
            """)

    @Option(
        name: .customLong("in"), help: ArgumentHelp("The folder of kept copies.", valueName: "folder"),
        completion: .directory)
    var folder: String

    @Option(help: "Only copies with this tag.")
    var tag: String?

    @Option(help: "Only copies of the store of this name.", transform: StoreNameArgument.read)
    var name: StoreNameArgument?

    @Flag(help: "Remove copies instead of listing them.")
    var prune = false

    @Option(help: ArgumentHelp("How many of each store stay.", valueName: "n"))
    var keep: Int?

    @Option(
        help: ArgumentHelp("How long a copy stays in any case: 30m, 12h, 7d, 4w.", valueName: "time"),
        transform: AgeArgument.read)
    var keepFor: AgeArgument?

    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        guard prune else {
            if keep != nil || keepFor != nil { throw ValidationError("--keep and --keep-for belong to --prune") }
            return
        }
        guard let keep, keep >= 0 else { throw ValidationError("say with --keep how many copies stay") }
    }

    func run() async throws {
        let console = output.console
        try await Running.run(console) { [self] in
            do throws(OperationError) {
                try act(console)
            } catch {
                throw ShipmentError.operation(error)
            }
        }
    }

    private func act(_ console: Console) throws(OperationError) {
        let tag = try tag.map { (text) throws(OperationError) in try CopyTag(text) }
        let kept = KeptCopies(in: FilePath(folder))
        let listing = try kept.list()
        var copies = listing.copies.filter { name == nil || $0.manifest.name == name?.name }
        for damaged in listing.damaged {
            console.warn("\(damaged.path) is damaged: it has no manifest that can be read")
        }
        if prune {
            let policy = CopyRetention(keeping: keep ?? 0, for: keepFor?.duration, tagged: tag)
            copies = policy.expired(of: copies, at: Timestamp(Date()))
            try kept.remove(copies)
            console.say("removed \(copies.count) cop\(copies.count == 1 ? "y" : "ies")")
        } else if let tag {
            copies = copies.filter { $0.tags.contains(tag) }
            guard !copies.isEmpty else { throw .noCopyTagged(tag.text, in: kept.folder) }
        }
        for line in copies.map(KeptCopyLine.init) {
            if output.json { Output.write(json: line) } else { Output.write(line.words) }
        }
        if copies.isEmpty, !prune { console.say("no copy is kept there yet") }
    }
}

private struct KeptCopyLine: Encodable {
    let path: String
    let name: String
    let createdAt: String
    let tags: [String]
    let metadata: [String: String]
    /// Bytes of the store, and of its external files.
    let size: Int64
    let externalFiles: Int
    let sha256: String
    let identity: String?

    init(_ copy: KeptCopy) {
        path = copy.path.string
        name = copy.manifest.name.text
        createdAt = copy.manifest.createdAt.text
        tags = copy.tags.map(\.text)
        metadata = copy.metadata
        size = copy.manifest.totalSize
        externalFiles = copy.manifest.externalFiles.count
        sha256 = copy.manifest.store.sha256.hex
        identity = copy.manifest.identity
    }

    var words: String {
        let files = externalFiles == 0 ? "" : "  \(externalFiles) external"
        let words =
            tags.map { "  #\($0)" }
            + metadata.sorted { $0.key < $1.key }
            .map { "  \($0.key)=\(Printable.text($0.value))" }
        return "\(path)  \(createdAt)  \(Figures.bytes(size))\(files)  \(sha256.prefix(12))\(words.joined())"
    }
}
