import ArgumentParser
import Foundation
import ShipStore
import StoreFiles
import StoreInbox
import Subprocess
import SystemPackage

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Say what changes in an inbox, as it changes, and run a command after each change.",
        usage: "ship-store watch --into <folder> [<name> ...] [<options>]",
        discussion: """
            First one line a store with what is current; then one line a change on standard output; with --json one object. \
            The command is run by `sh -c`, one after the other, with the change in its environment: SHIP_STORE_NAME, \
            SHIP_STORE_GENERATION, SHIP_STORE_PATH (the absolute path of the store's file in that generation, which stays \
            until the command ends) and SHIP_STORE_CHANGE (the object that --json writes; without its lists, if it is too \
            long for an environment). If it is busy while several shipments arrive, the next change tells of all of them. It \
            goes on until it is stopped; without a command it ends when nobody reads its output any more.

            What arrived while nobody watched is a change as well with --since and the number of the generation that was \
            handled last; 0 makes everything one.

              ship-store watch --into inbox
              ship-store watch --into inbox Recipes \\
                --exec 'sqlite3 -readonly "$SHIP_STORE_PATH" .dump > recipes.sql'
              ship-store watch --into inbox Recipes --since 7 --exec ./take-over
              ship-store watch --into inbox Recipes --rows --json
              ship-store watch --into inbox --once && echo something new
            """)

    @Option("The inbox.", .folder) var into: FilePath

    @Argument(help: "The stores to tell of. (default: all)", completion: .stores, transform: StoreName.read)
    var name: [StoreName] = []

    @Option(help: ArgumentHelp("Run this after each change.", valueName: "command"))
    var exec: String?

    @Option(
        help: ArgumentHelp(
            "Begin with the change from this generation to the current one, if that is another; 0 for none.",
            valueName: "generation"))
    var since: Int?

    @Flag(
        help: """
            Tell which rows were inserted, updated and deleted: how many, and with --json their keys, up to \(ChangedRows.most) \
            of a change.
            """)
    var rows = false

    @Flag(help: "End after the first change; with --exec, with the status of the command.")
    var once = false

    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        guard let since else { return }
        if since < 0 { throw ValidationError("--since takes a number from 0 on") }
        // Each store has numbers of its own.
        if since > 0, name.count != 1 {
            throw ValidationError("--since takes the name of one store with it, unless it is 0")
        }
    }

    func run() async throws {
        let console = output.console
        // The user's command may change its folder before it opens the store, so the path is absolute.
        let (inbox, names) = (Inbox(at: absolute(into)), Set(name))
        // Without --once, a signal is the regular end.
        try await console.run(whenStopped: once ? nil : .success, isEndless: true) {
            [output, exec, once, into, since, rows] in
            var damaged: [StoreStatus] = []
            let changes = try ShipmentError.wrapping {
                let folder = try Inbox(at: into).open()
                // Nothing comes where a store's generations cannot be.
                for name in try folder.storeNames() where names.isEmpty || names.contains(name) {
                    _ = try folder.generationNames(of: name)
                }
                if since == nil { damaged = try Inbox(at: into).status().filter { $0.problem != nil } }
                return try StoreCoordinator(inbox: inbox.root).changes(since: since, rows: rows)
            }
            let whose = names.isEmpty ? "" : " for " + names.sorted().map(\.text).joined(separator: ", ")
            console.say("watching \(into)\(whose)")
            ServiceManager.tell(.ready)
            func tell(_ line: ChangeLine) {
                if output.json { Output.write(line.json) } else { Output.write(line.text) }
            }
            func isWatched(_ name: StoreName) -> Bool { names.isEmpty || names.contains(name) }
            for store in damaged where isWatched(store.name) { tell(ChangeLine(store, in: inbox)) }
            for current in changes.current where isWatched(current.store) {
                if damaged.contains(where: { $0.name == current.store }) { continue }
                tell(ChangeLine(current, in: inbox))
            }
            if exec == nil, Output.isUnwanted { return }
            for await change in changes where isWatched(change.store) {
                // The lock keeps the announced generation until the command has ended.
                let hold = change.generation.flatMap { try? FolderLock.take(.shared, on: $0.path) }
                defer { withExtendedLifetime(hold) { _ in } }
                let line = ChangeLine(change, in: inbox)
                tell(line)
                if exec == nil, Output.isUnwanted { return }
                let problem = if let exec { try await line.run(exec) } else { nil as ChangeLine.Problem? }
                if let problem { console.complain("the command \(problem.words)") }
                guard once else { continue }
                if let problem {
                    console.endOutput("the command \(problem.words)", problem.status)
                    throw ExitCode(problem.status)
                }
                return
            }
        }
    }

    private func absolute(_ path: FilePath) -> FilePath {
        PlatformCalls.workingFolder.pushing(path).lexicallyNormalized()
    }
}

extension StoreChange {
    /// The generation that is current now, if the change is one of generations.
    fileprivate var generation: GenerationStamp? {
        guard case .generation(let change) = self else { return nil }
        return change.to
    }
}

/// One change, as `watch` tells it.
private struct ChangeLine {
    private let name: StoreName
    /// The generation that is current now.
    private var generation: Int?
    /// The absolute path of the store's file: in the generation, if there is one, or else under the public name.
    private let path: FilePath
    /// In words: `Recipes  7 (was 6)  recipe 120 to 124 rows, tag changed  2 external files added`
    let text: PrintableText
    let json: JSONObject
    /// The same without its lists, which may be too long for an environment.
    private let shortJSON: JSONObject

    init(_ current: GenerationStamp, in inbox: Inbox) {
        (name, generation, path) = (current.store, current.number, current.storePath)
        // A name that is none is of no known age.
        let age = (try? inbox.open())?.age(of: current.path.lastComponent.flatMap { GenerationName($0.text) }, name)
        text = "\(name)  \(current.number)  current" + (age?.age == nil ? "" : "  \(age?.inWords ?? "")")
        json = .event(
            "current",
            [
                "name": name.text, "generation": generation, "sha256": current.sha256.hex,
                "path": path.text, "age": age?.age?.inWholeSeconds,
                "isConnected": age?.isConnected == true ? true : nil,
            ])
        shortJSON = json
    }

    /// Of a store that cannot be read as the command begins.
    init(_ damaged: StoreStatus, in inbox: Inbox) {
        (name, path) = (damaged.name, inbox.root.appending("\(damaged.name).sqlite"))
        let cause = damaged.problem.map { ShipmentError.install($0).cause } ?? ""
        text = "\(name)  unreadable: \(cause)"
        json = .event("unreadable", ["name": name.text, "error": cause.text, "path": path.text])
        shortJSON = json
    }

    init(_ change: StoreChange, in inbox: Inbox) {
        name = change.store
        let publicPath = inbox.root.appending("\(change.store).sqlite")
        switch change {
        case .generation(let change):
            (generation, path, text) = (change.to.number, change.to.storePath, change.text)
            shortJSON = .event(
                "changed",
                [
                    "name": name.text, "generation": generation, "sha256": change.to.sha256.hex,
                    // The generation that was announced before.
                    "from": change.from?.number, "isStepBack": change.isStepBack,
                    "hasSchemaChanged": change.difference.hasSchemaChanged, "path": path.text,
                ])
            json = shortJSON.adding(change.difference.lists)
        case .removed:
            (path, text) = (publicPath, "\(name)  removed")
            json = .event("removed", ["name": name.text, "path": path.text])
            shortJSON = json
        case .rewritten:
            (path, text) = (publicPath, "\(name)  rewritten")
            json = .event("rewritten", ["name": name.text, "path": path.text])
            shortJSON = json
        case .unreadable(_, let number, let reason):
            let cause = ShipmentError.install(reason).cause
            (generation, path, text) = (number, publicPath, "\(name)  \(number)  unreadable: \(cause)")
            json = .event(
                "unreadable",
                ["name": name.text, "generation": number, "error": cause.text, "path": path.text])
            shortJSON = json
        }
    }
}

/// The user's command after a change, run by `/bin/sh -c`. It inherits standard output and standard error.
extension ChangeLine {
    /// How the command failed.
    ///
    /// `words` follow on `the command`; `status` is the one that a shell would say.
    typealias Problem = (words: String, status: Int32)

    /// Longest text of one variable: the system's own limit is 128 KiB with the name [execve(2), `MAX_ARG_STRLEN`].
    private static let longestVariable = 120_000  // bytes
    /// How long the command has after SIGTERM before SIGKILL.
    private static let terminationTime = Duration.seconds(2)

    /// Runs it to its end. If the task is cancelled, the command is stopped, with all that it started.
    ///
    /// - Throws: `CancellationError`.
    func run(_ command: String) async throws -> Problem? {
        var platform = PlatformOptions()
        platform.processGroupID = 0
        platform.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: Self.terminationTime)
        ]
        let status: TerminationStatus
        do {
            status = try await Subprocess.run(
                .path("/bin/sh"),
                arguments: Arguments(running: ["/bin/sh", "-c", command], with: "SHIP_STORE_PATH", path),
                environment: environment,
                platformOptions: platform, input: .none, output: .currentStandardOutput, error: .currentStandardError
            ).terminationStatus
        } catch let error as SubprocessError {
            return (words: "cannot be started: \(error)", status: ExitStatus.unavailable.rawValue)
        }
        try Task.checkCancellation()
        return switch status {
        case .exited(0): nil
        case .exited(let code): (words: "ended with status \(code)", status: code)
        case .signaled(let signal): (words: "was ended by signal \(signal)", status: 128 + signal)
        }
    }

    private var environment: Environment {
        var text = Output.json(json) ?? ""
        if text.utf8.count > Self.longestVariable { text = Output.json(shortJSON) ?? "" }
        return .inherit.updating([
            "SHIP_STORE_NAME": name.text, "SHIP_STORE_GENERATION": generation.map { "\($0)" } ?? "",
            "SHIP_STORE_CHANGE": text,
        ])
    }
}

extension GenerationChange {
    fileprivate var text: PrintableText {
        let was: PrintableText =
            from.map { isStepBack ? " (back from \($0.number))" : " (was \($0.number))" }
            ?? (difference.tables == nil ? "" : " (new)")
        var parts: [PrintableText] = ["\(store)  \(to.number)\(was)"]
        if let tables = difference.tables, !tables.isEmpty {
            parts.append(tables.map(\.text).joined(separator: ", "))
        }
        if !difference.externalFiles.text.isEmpty { parts.append("\(difference.externalFiles.text)") }
        if !difference.metadata.isEmpty {
            let pairs = difference.metadata.sorted { $0.key < $1.key }.map { key, value -> PrintableText in
                value.after.map { "\(key)=\($0)" } ?? "\(key) gone"
            }
            parts.append(pairs.joined(separator: ", "))
        }
        return parts.joined(separator: "  ")
    }
}

extension GenerationDifference {
    /// The changes, one by one; without `tables` if a manifest does not describe them.
    fileprivate var lists: JSONObject {
        let files: JSONObject = [
            // By their paths in the support folder.
            "added": externalFiles.added.map(\.relativePath), "removed": externalFiles.removed.map(\.relativePath),
            "replaced": externalFiles.replaced.map(\.relativePath),
        ]
        return [
            "tables": tables?.map {
                [
                    "name": $0.name, "rowsBefore": $0.rowsBefore, "rowsAfter": $0.rowsAfter, "rows": $0.rows?.json,
                ] as JSONObject
            },
            "externalFiles": files,
            "metadata": metadata.mapValues { ["before": $0.before, "after": $0.after] as JSONObject },
        ]
    }
}

extension GenerationDifference.TableChange {
    fileprivate var text: PrintableText {
        let rows = rows?.text.map { " (\($0))" } ?? ""
        switch (rowsBefore, rowsAfter) {
        case (nil, let after): return "\(name) new, \(after ?? 0) rows"
        case (_, nil): return "\(name) gone"
        case (let before?, let after?):
            return before == after ? "\(name) changed\(rows)" : "\(name) \(before) to \(after) rows\(rows)"
        }
    }
}

extension GenerationDifference.ExternalFileChanges {
    fileprivate var text: String {
        [("added", added), ("removed", removed), ("replaced", replaced)].filter { !$0.1.isEmpty }
            .map { "\($0.1.count) external \($0.1.count == 1 ? "file" : "files") \($0.0)" }.joined(separator: ", ")
    }
}
