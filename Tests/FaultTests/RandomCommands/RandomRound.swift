import Foundation
import StoreFiles
import SystemPackage
import TestSupport

/// One desk, and commands on it until one of them does what it must not, or there have been enough.
final class RandomRound {
    /// What was found, as a story that can be told again.
    struct Violation: Error {
        let words: String
    }

    let desk: RandomDesk
    private let hasShim: Bool
    /// Commands that this program may not have.
    private let extras: Set<String>
    var story: [String] = []
    private(set) var commandCount = 0
    private(set) var uncertain: Set<String> = []

    init(seed: UInt64, in memory: ScratchFolder, hasShim: Bool, extras: Set<String>) throws {
        desk = try RandomDesk(seed: seed, in: memory)
        self.hasShim = hasShim
        self.extras = extras
        story = ["seed \(seed)"]
    }

    /// - Throws: `Violation`.
    func run(steps: Int) async throws {
        for _ in 0..<steps { try await step() }
        for inbox in RandomDesk.inboxes where desk.resolve(inbox + "/.ship-store") != nil {
            let outcome = try await start(["verify", inbox])
            try require(outcome.status == .exited(0), "\(inbox) is not whole: \(outcome.stderr)")
        }
    }

    // MARK: What is tried

    /// Each desk sees some kinds of commands and not the others: what one kind breaks would hide what another does.
    private enum Kind: CaseIterable {
        case copy, keep, pruneCopies, restore, move, destroy, setMetadata, ship, changeInbox, loseAndRestore

        /// How often it comes among others.
        var weight: Int {
            switch self {
            case .keep: 5
            case .pruneCopies: 3
            case .copy, .restore, .move, .destroy, .ship, .loseAndRestore: 2
            case .setMetadata, .changeInbox: 1
            }
        }
    }

    private lazy var kinds: [Kind] = {
        let some = Kind.allCases.filter { _ in desk.chance(50) }
        return (some + [.keep]).flatMap { Array(repeating: $0, count: $0.weight) }
    }()

    private func step() async throws {
        let kind = desk.any(kinds) ?? .keep
        guard let command = self.command(of: kind) else {
            switch kind {
            case .ship: return try await ship()
            case .loseAndRestore: return try await loseAndRestore()
            case .copy, .keep, .pruneCopies, .restore, .move, .destroy, .setMetadata, .changeInbox: return
            }
        }
        switch Int.random(in: 0..<100, using: &desk.random) {
        case 0..<65: try await run(command)
        case 65..<82: try await runBesideApp(command)
        default:
            guard let other = self.command(of: desk.any(kinds) ?? .keep) else { return _ = try await run(command) }
            try await run([command, other])
        }
    }

    /// - Returns: `nil` for what is more than one command.
    private func command(of kind: Kind) -> RandomCommand? {
        switch kind {
        case .copy:
            let name = desk.chance(60) ? desk.any(RandomDesk.names) : nil
            let folder = desk.any(RandomDesk.backupFolders) ?? "a"
            let leaving = desk.chance(30)
            if let name { uncertain.insert("\(folder)/\(Names.ofCopy(name))") }
            return .copy(anyStore(), to: folder, as: name, leavingOut: leaving)
        case .keep: return .keep(anyStore(), in: anyKeptFolder(), tag: desk.chance(15) ? "x" : nil)
        case .pruneCopies:
            let tag = desk.chance(25) ? desk.any(["x", "before-restore"]) : nil
            let count = desk.any([0, 1, 1, 1, 2]) ?? 1
            return .pruneCopies(in: anyKeptFolder(), keeping: count, tag: tag)
        case .restore:
            var options: [String] = []
            if desk.chance(60) { options += ["--any-identity"] }
            if desk.chance(40) { options += desk.chance(50) ? ["--no-safety-copy"] : ["--safety-copies", "kept"] }
            return .restore(anyCopy(), over: anyStore(), options: options)
        case .move:
            let (folder, removing, replacing) = (desk.any(RandomDesk.folders) ?? "g", desk.chance(60), desk.chance(30))
            return .move(anyStore(), to: folder, removing: removing, replacing: replacing)
        case .destroy: return .destroy(anyStore())
        case .setMetadata:
            return .setMetadata(anyStore(), value: Int.random(in: 0..<1_000_000, using: &desk.random))
        case .changeInbox: return changeOfInbox()
        case .ship, .loseAndRestore: return nil
        }
    }

    private func changeOfInbox() -> RandomCommand {
        let (inbox, name) = (desk.any(RandomDesk.inboxes) ?? "inbox", desk.any(["Recipes", "Model"]) ?? "Model")
        if extras.contains("forget"), desk.chance(50) {
            return .forget(name, into: inbox)
        } else if desk.chance(50) {
            return .rollback(name, into: inbox)
        } else {
            return .prune(inbox, name: desk.chance(50) ? name : nil)
        }
    }

    private func anyKeptFolder() -> String { desk.chance(75) ? "kept" : desk.any(RandomDesk.keptFolders) ?? "kept" }

    /// Mostly a store that is there; or a name that is none, another name for one, or one of those that are kept.
    private func anyStore() -> String {
        let snapshot = try? desk.look()
        let stores = snapshot.map(desk.stores) ?? []
        switch Int.random(in: 0..<100, using: &desk.random) {
        case 0..<72: return desk.any(stores) ?? "a/Recipes.sqlite"
        case 72..<86:
            let names = RandomDesk.names + ["Ghost.sqlite", "Ghost", "Recipes.txt"]
            return "\(desk.any(RandomDesk.folders) ?? "a")/\(desk.any(names) ?? "Recipes")"
        case 86..<91: return "link.sqlite"
        case 91..<96:
            return "\(desk.any(RandomDesk.inboxes) ?? "inbox")/\(desk.any(["Recipes", "Model"]) ?? "Model").sqlite"
        default:
            guard let copy = desk.any(desk.copies.map(\.path)),
                let store = snapshot?.names(in: copy).first(where: { $0.hasSuffix(".sqlite") })
            else { return "link.sqlite" }
            return "\(copy)/\(store)"
        }
    }

    private func anyCopy() -> String {
        desk.chance(75) ? desk.any(desk.copies.map(\.path)) ?? anyStore() : anyStore()
    }

    /// From store to inbox, through a pipe or a file.
    private func ship() async throws {
        let (store, inbox) = (anyStore(), desk.any(RandomDesk.inboxes) ?? "inbox")
        let name = StorePaths(store).stem
        if desk.chance(50) {
            let file = "shipment\(commandCount)"
            guard try await run(.send(store, to: file)).status == .exited(0) else { return }
            try await run(.receive(file, into: inbox, name: name))
        } else {
            let sent = try await run(.send(store, to: "-"))
            guard sent.status == .exited(0) else { return }
            try await run(.receive("-", into: inbox, name: name), input: .bytes(sent.output))
        }
    }

    /// What a backup is for.
    private func loseAndRestore() async throws {
        let store = anyStore()
        let snapshot = try desk.look()
        guard desk.resolve(store) == store, !uncertain.contains(store), !desk.damaged.contains(store),
            let state = desk.reader.state(of: store, in: snapshot), !desk.isKept(store, in: snapshot),
            isComplete(state, at: store, in: snapshot), !desk.isLinked(store, in: snapshot)
        else { return }
        let folder = anyKeptFolder()
        let kept = try await run(.keep(store, in: folder, tag: nil), killing: false)
        try require(kept.status == .exited(0), "a sound store cannot be copied")
        let copy = try (kept.lines.first).orThrow(violation("no path is said"))
        guard try damage(store) else { return }
        desk.damaged.insert(store)
        let outcome = try await run(.restore(copy, over: store, options: []), killing: desk.chance(30))
        let isKilled = outcome.status == .signalled(SIGKILL)
        if isKilled {
            let again = try await run(.restore(copy, over: store, options: []), killing: false)
            try require(again.status == .exited(0), "a lost store cannot be restored after a kill")
        } else {
            try require(outcome.status == .exited(0), "a lost store cannot be restored")
        }
        desk.damaged.remove(store)
        let after = try desk.look()
        try require(desk.reader.state(of: store, in: after) == state, "what was restored is something else")
        try require(isComplete(state, at: store, in: after), "what was restored lacks external files")
    }

    /// - Returns: Whether the store is now beyond repair, or gone.
    private func damage(_ store: String) throws -> Bool {
        let file = URL(fileURLWithPath: desk.at(store).string)
        var content = try Data(contentsOf: file)
        switch Int.random(in: 0..<4, using: &desk.random) {
        case 0:
            try FileManager.default.removeItem(at: file)
            story.append("  (\(store) is lost)")
            return true
        case 1: content.replaceSubrange(0..<100, with: desk.random.bytes(100))
        case 2: content = content.prefix(100 + content.count / 3)
        default: content.replaceSubrange(4096..<8192, with: Data(repeating: 0xFF, count: 4096))
        }
        try content.write(to: file)
        story.append("  (\(store) is damaged)")
        return desk.reader.state(of: store, in: try desk.look()) == nil
    }

    func isComplete(_ state: StoreState, at store: String, in snapshot: Snapshot) -> Bool {
        desk.files(of: state, at: store).allSatisfy { snapshot.bytes(of: $0) != nil }
    }

    // MARK: Running

    /// Runs one command.
    @discardableResult
    func run(
        _ command: RandomCommand, input: ChildProgram.Input = .nothing, killing: Bool = true
    ) async throws -> ChildProgram.Outcome {
        let outcomes = try await run([command], input: input, killing: killing)
        return try outcomes.first.orThrow(violation("nothing was run"))
    }

    /// Runs one command, or two at once.
    @discardableResult
    func run(
        _ commands: [RandomCommand], input: ChildProgram.Input = .nothing, killing: Bool = true,
        beside app: LiveApp? = nil, since look: Snapshot? = nil
    ) async throws -> [ChildProgram.Outcome] {
        let before = try look ?? desk.look()
        let attempt = self.attempt(commands, before, liveStore: app?.store)
        let call = killing && desk.chance(18) ? Int.random(in: 1...70, using: &desk.random) : nil
        let more = app == nil ? [] : commands[0].patience
        let outcomes: [ChildProgram.Outcome]
        if commands.count == 2 {
            let other = try begin(commands[1].arguments)
            outcomes = [try await start(commands[0].arguments, killingAt: call), try await other.wait()]
        } else {
            outcomes = [try await start(commands[0].arguments + more, input: input, killingAt: call)]
        }
        commandCount += commands.count
        let report = try await app?.end()
        for (index, (command, outcome)) in zip(commands, outcomes).enumerated() {
            let joint = commands.count == 2 ? (index == 0 ? "  at once: " : "           ") : "  "
            story.append(joint + (command.arguments + more).joined(separator: " ") + ": " + Self.words(outcome))
        }
        try check(attempt, outcomes, report, isKilled: call != nil)
        return outcomes
    }

    func start(
        _ arguments: [String], input: ChildProgram.Input = .nothing, killingAt call: Int? = nil
    ) async throws -> ChildProgram.Outcome {
        try await begin(arguments, input: input, killingAt: call).wait()
    }

    private func begin(
        _ arguments: [String], input: ChildProgram.Input = .nothing, killingAt call: Int? = nil
    ) throws -> ChildProgram {
        var environment = ["TMPDIR": desk.temporary.string, "XDG_CONFIG_HOME": desk.configuration.string]
        if let call, hasShim {
            let log = desk.temporary.appending("calls")
            try? PlatformCalls.removeFile(log)
            environment.merge(FaultShim.environment(.kill, at: call, log: log)) { $1 }
        }
        return try BuiltProgram.start(arguments, input: input, environment: environment, in: desk.path)
    }

    static func words(_ outcome: ChildProgram.Outcome) -> String {
        let error = outcome.stderr.split(separator: "\n").first { $0.contains("error: ") } ?? ""
        return switch outcome.status {
        case .exited(let status): "\(status) \(error)"
        case .signalled(let signal): "signal \(signal)"
        }
    }

    func violation(_ words: String) -> Violation {
        Violation(words: "\(words)\n\(story.joined(separator: "\n"))")
    }

    func require(_ condition: Bool, _ words: @autoclosure () -> String) throws {
        if !condition { throw violation(words()) }
    }
}
