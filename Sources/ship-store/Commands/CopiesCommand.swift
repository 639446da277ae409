import ArgumentParser
import ShipStore
import SystemPackage

struct CopiesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copies",
        abstract: "List the kept copies in a folder, or remove those that have had their time.",
        usage: """
            ship-store copies --in <folder> [--tag <tag>]
            ship-store copies --in <folder> --prune [--keep <n>] [--keep-for <time>]
              [--tag <tag>] [--dry-run]
            """,
        discussion: """
            The oldest of each store comes first, whatever the clock said. Pruning keeps the newest \(CopyRetention.standardCount) of each \
            store, or what --keep says, and those younger than --keep-for. Copies are of one store if they have its identity, or, where it \
            has none, were taken at its path. A copy that is being restored stays until the next pruning.

            Pruning leaves copies with a tag alone, unless --tag names it. So what `restore` has kept of a store as it \
            was, in .NAME-safety beside it, stays until it is pruned with --tag \(CopyTag.beforeRestore), and then all of it goes \
            unless --keep or --keep-for says otherwise. A copy of a damaged store (`copy --damaged`) stays, and does not count. \
            What is removed goes to standard output.

              ship-store copies --in kept
              ship-store copies --in kept --tag before-import --json
              ship-store copies --in kept --prune --dry-run
              ship-store copies --in kept --prune --keep 5 --keep-for 7d
              ship-store copies --in .Recipes-safety --prune --tag \(CopyTag.beforeRestore)
            """)

    @Option(name: .customLong("in"), "The folder of kept copies.", .folder) var folder: FilePath

    @Option(help: "Only copies with this tag.")
    var tag: String?

    @Option("Only copies of the store of this name.", .name) var name: StoreName?

    @Flag(help: "Remove copies instead of listing them.")
    var prune = false

    @Option(
        help: ArgumentHelp(
            "How many of each store stay. (default: \(CopyRetention.standardCount); with --tag \(CopyTag.beforeRestore) 0)",
            valueName: "n"))
    var keep: Int?

    @Option("Keep those beyond that number for this long after they were taken: 90s, 15m, 12h, 7d or 2w.", .age)
    var keepFor: Duration?

    @Flag(help: "Remove nothing, and say what would go.")
    var dryRun = false

    @OptionGroup var busy: BusyArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        if !prune, keep != nil || keepFor != nil || dryRun {
            throw ValidationError("--keep, --keep-for and --dry-run belong to --prune")
        }
        if let keep, keep < 0 { throw ValidationError("--keep takes a number from 0 on") }
    }

    func run() async throws {
        try await output.run { [self] console in
            let kept = KeptCopies(in: folder)
            let tag = try tag.map { (text) throws(ShipmentError) in try [text].asTags()[0] }
            if prune {
                try await remove(from: kept, tag, console)
            } else {
                try list(kept, tag, console)
            }
        }
    }

    private func list(_ kept: KeptCopies, _ tag: CopyTag?, _ console: Console) throws(ShipmentError) {
        let listing = try ShipmentError.wrapping { try kept.list() }
        warn(of: listing, console)
        var copies = listing.copies.filter { name == nil || $0.manifest.name == name }
        if let tag {
            copies = copies.filter { $0.tags.contains(tag) }
            guard !copies.isEmpty else { throw .operation(.noCopyTagged(tag.text, in: kept.folder)) }
        }
        for copy in copies { write(copy) }
        if copies.isEmpty {
            console.say(
                listing.copies.isEmpty
                    ? listing.damaged.isEmpty ? "no copy is kept there yet" : "no sound copy is kept there"
                    : "no copy is of that name")
        }
        sayWhatElse(listing, in: kept, console)
    }

    private func remove(from kept: KeptCopies, _ tag: CopyTag?, _ console: Console) async throws(ShipmentError) {
        let retention = CopyRetention(keeping: keep, for: keepFor, tagged: tag)
        let pruning = try await kept.prune(retention, of: name, dryRun: dryRun, busyTimeout: busy.busyTimeout)
        warn(of: pruning.left, console)
        var count = 0
        for finding in pruning.findings {
            switch finding.removal {
            case .removed, .superfluous: count += 1
            case .held: console.say("\(finding.copy.path) is being read: it stays until the next pruning")
            case .altered: console.warn("\(finding.copy.path) holds more than the copy: it stays, look what that is")
            }
            if output.json || [.removed, .superfluous].contains(finding.removal) {
                write(finding.copy, finding.removal)
            }
        }
        console.say("\(dryRun ? "would remove" : "removed") \(Self.copies(count))")
        let tags = Set(pruning.left.copies.flatMap(\.tags)).subtracting([tag].compactMap(\.self)).sorted()
        for tag in tags {
            let count = pruning.left.copies.count { $0.tags.contains(tag) }
            console.say(
                "\(Self.copies(count)) tagged \(tag.text) \(count == 1 ? "stays" : "stay"), unless --tag names it")
        }
        sayWhatElse(pruning.left, in: kept, console)
    }

    private static func copies(_ count: Int) -> String { "\(count) cop\(count == 1 ? "y" : "ies")" }

    private func warn(of listing: KeptCopies.Listing, _ console: Console) {
        for damaged in listing.damaged {
            console.warn(
                """
                \(damaged.path) is damaged: \(ShipmentError.install(damaged.problem).cause); \
                once nothing in it is needed, `rm -r \(inShell: damaged.path)`
                """)
        }
    }

    /// Names files that look like kept copies and are not, and says what to do about them.
    private func sayWhatElse(_ listing: KeptCopies.Listing, in kept: KeptCopies, _ console: Console) {
        if let file = listing.files.last {
            let count = listing.files.count
            console.say(
                "\(count) single cop\(count == 1 ? "y" : "ies") of `copy --to` there, neither listed nor pruned here")
            console.say(
                """
                restore one with `ship-store restore \(inShell: file) --over STORE`; `copy --keep-in` makes copies that are listed
                """)
        }
        for folder in listing.safetyFolders {
            console.say("what restores kept of a store here: `ship-store copies --in \(inShell: folder)`")
        }
        if case .inbox? = try? Artifact(at: kept.folder) {
            console.say("it is an inbox: see `ship-store list --into \(inShell: kept.folder)`")
        }
    }

    private func write(_ copy: KeptCopy, _ removal: KeptCopies.Removal? = nil) {
        if output.json { Output.write(copy.json(removal)) } else { Output.write(copy.words) }
    }
}

extension KeptCopy {
    fileprivate func json(_ removal: KeptCopies.Removal?) -> JSONObject {
        [
            "folder": path.text,
            // Of the store in it.
            "path": storePath.text, "name": manifest.name.text,
            // Rises from copy to copy.
            "number": number, "createdAt": manifest.createdAt.text, "tags": tags.map(\.text), "metadata": metadata,
            // Bytes of the store, and of its external files.
            "size": manifest.totalSize, "externalFiles": manifest.externalFiles.count,
            "sha256": manifest.store.sha256.hex, "identity": manifest.identity,
            // The path of the original store.
            "original": originalStore.text,
            // What was wrong with the store; left out for a sound one.
            "damage": damage,
            "outcome": removal.map { $0 == .superfluous ? "would-remove" : $0.rawValue },
        ]
    }

    fileprivate var words: PrintableText {
        let count = manifest.externalFiles.count
        let files = count == 0 ? "" : "  \(count) external"
        let words: [PrintableText] =
            (damage.map { ["  damaged: \($0)"] } ?? [])
            + tags.map { "  #\($0.text)" }
            + metadata.sorted { $0.key < $1.key }
            .map { "  \($0.key)=\($0.value)" }
        return """
            \(path.text)  \(manifest.createdAt.text)  \(Figures.bytes(manifest.totalSize))\(files)  \
            \(manifest.store.sha256.hex.prefix(12))\(words.joined())
            """
    }
}
