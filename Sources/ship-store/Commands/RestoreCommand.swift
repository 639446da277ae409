import ArgumentParser
import ShipStore
import SystemPackage

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Give a live store the content of a copy, while its app has it open.",
        usage: "ship-store restore <copy> --over <store> [<options>]",
        discussion: """
            To everybody who has the store open it is one transaction. The copy is checked first; the store as it was is \
            kept as a copy too, which stays until `ship-store copies --prune --tag \(CopyTag.beforeRestore)`. Where the \
            store is gone or damaged, the copy is put in its place; what is left of it is kept in STORE.damaged-TIME \
            beside it. The store's path goes to standard output.

              ship-store restore kept/Recipes-20261120T190405 --over Recipes.sqlite
              ship-store restore backups/latest.sqlite --over Recipes.sqlite \\
                --safety-copies kept
              ship-store restore .Recipes-safety/Recipes-20261121T080000 \\
                --over Recipes.sqlite --no-safety-copy
            """)

    @Argument(help: "A kept copy, a generation, or any SQLite store.", completion: .file())
    var copy: FilePath

    @Option(help: ArgumentHelp("The store whose content is replaced.", valueName: "store"), completion: .file())
    var over: FilePath

    @OptionGroup(title: "Restore options") var restore: RestoreArguments
    @OptionGroup(title: "Restore options") var busy: BusyArguments

    @Option("Do the work in a private folder inside this one. (default: TMPDIR, or /tmp)", .folder)
    var temporaryFolder: FilePath?

    @Option(
        "Refuse to write what would leave less than this free on the disk. (default: \(RestoreOptions().keptFree.asSize))",
        .size)
    var keepFree = RestoreOptions().keptFree

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        try await output.run { [self] console in
            var options = restore.options(busy.busyTimeout)
            if let temporaryFolder { options.temporaryFolder = temporaryFolder }
            options.keptFree = keepFree
            let restoration = try await LocalStore(over).restore(from: copy, options: options)
            console.say("restored \(over): \(restoration.manifest.summary) of \(restoration.manifest.createdAt)")
            console.say(restoration)
            output.write(restoration.json) { Output.write(path: over) }
        }
    }
}

extension Restoration {
    fileprivate var json: JSONObject {
        [
            // Of the store.
            "path": store.text,
            // A folder.
            "safetyCopy": safetyCopy?.path.text,
            // What was wrong with the old store, and the folder that keeps it.
            "damage": damage.map { $0.words ?? "there was no store" }, "damagedStore": damage?.keptAs?.text,
            // External files of the old state that had to stay.
            "remainingFiles": remainingFiles.map(\.json), "manifest": manifest,
        ]
    }
}

extension Console {
    /// Says what a restore left behind.
    func say(_ restoration: Restoration) {
        if let copy = restoration.safetyCopy {
            say("the store as it was is kept as \(copy.path)")
            say(
                "it stays until `ship-store copies --in \(inShell: copy.path.removingLastComponent()) --prune --tag \(CopyTag.beforeRestore)`"
            )
        }
        if let damage = restoration.damage { say(damage) }
        restoration.manifest.omissionLines().forEach(say)
        for missing in restoration.manifest.missingExternalFiles {
            warn("the copy came without \(missing.relativePath)")
        }
        say(restoration.remainingFiles)
    }

    private func say(_ damage: Restoration.Damage) {
        guard let words = damage.words else {
            say("there was no store")
            if let folder = damage.keptAs { say("what was beside it is kept in \(folder)") }
            return
        }
        warn("\(words)")
        if let folder = damage.keptAs {
            say("the store as it was is kept in \(folder); who has it open still has that one")
        }
    }
}

/// A file that stays in the support folder after its store was removed or got another content.
extension RemainingFile {
    var json: JSONObject {
        // The store is the one that refers to it, or whose rows cannot be read.
        switch reason {
        case .usedBy(let store): ["path": path.text, "reason": "used", "store": store.text]
        case .unexplained: ["path": path.text, "reason": "unexplained"]
        case .unreadable(let store): ["path": path.text, "reason": "unreadable", "store": store.text]
        case .stillRead: ["path": path.text, "reason": "read"]
        }
    }
}

extension Console {
    /// Says which files stay, and why: one line for each reason.
    func say(_ remaining: [RemainingFile]) {
        var counts: [RemainingFile.Reason: (count: Int, first: FilePath)] = [:]
        for file in remaining {
            counts[file.reason] = ((counts[file.reason]?.count ?? 0) + 1, counts[file.reason]?.first ?? file.path)
        }
        for (reason, found) in counts.sorted(by: { $0.value.first.text < $1.value.first.text }) {
            let files = found.count == 1 ? "\(found.first) stays" : "\(found.first) and \(found.count - 1) more stay"
            switch reason {
            case .usedBy(let store): say("\(files): \(store) refers to \(found.count == 1 ? "it" : "them")")
            case .unexplained: warn("\(files): no store refers to \(found.count == 1 ? "it" : "them")")
            case .unreadable(let store):
                warn("\(files): \(store) may refer to \(found.count == 1 ? "it" : "them"), and its rows cannot be read")
            case .stillRead:
                say(
                    "\(files): somebody still reads the store as it was; the next restore removes "
                        + "\(found.count == 1 ? "it" : "them")")
            }
        }
    }

    func say(goneWithItsStore links: [FilePath]) {
        for link in links { say("the symbolic link \(link) is gone too") }
    }
}
