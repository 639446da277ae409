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

    private let desk: RandomDesk
    private let shim: FaultShim?
    /// Commands that this program may not have.
    private let extras: Set<String>
    private var story: [String] = []
    private(set) var commandCount = 0
    private var uncertain: Set<String> = []

    init(seed: UInt64, in memory: ScratchFolder, _ shim: FaultShim?, extras: Set<String>) throws {
        desk = try RandomDesk(seed: seed, in: memory)
        self.shim = shim
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
        switch desk.any(kinds) ?? .keep {
        case .copy:
            let name = desk.chance(60) ? desk.any(RandomDesk.names) : nil
            let folder = desk.any(RandomDesk.backupFolders) ?? "a"
            let leaving = desk.chance(30)
            if let name { uncertain.insert("\(folder)/\(name)") }
            try await run(.copy(anyStore(), to: folder, as: name, leavingOut: leaving))
        case .keep: try await run(.keep(anyStore(), in: anyKeptFolder(), tag: desk.chance(15) ? "x" : nil))
        case .pruneCopies:
            let tag = desk.chance(25) ? desk.any(["x", "before-restore"]) : nil
            let count = desk.any([0, 1, 1, 1, 2]) ?? 1
            try await run(.pruneCopies(in: anyKeptFolder(), keeping: count, tag: tag))
        case .restore:
            var options: [String] = []
            if desk.chance(60) { options += ["--any-identity"] }
            if desk.chance(40) { options += desk.chance(50) ? ["--no-safety-copy"] : ["--safety-copies", "kept"] }
            try await run(.restore(anyCopy(), over: anyStore(), options: options))
        case .move:
            let (folder, removing, replacing) = (desk.any(RandomDesk.folders) ?? "g", desk.chance(60), desk.chance(30))
            try await run(.move(anyStore(), to: folder, removing: removing, replacing: replacing))
        case .destroy: try await run(.destroy(anyStore()))
        case .setMetadata:
            try await run(.setMetadata(anyStore(), value: Int.random(in: 0..<1_000_000, using: &desk.random)))
        case .ship: try await ship()
        case .changeInbox: try await changeInbox()
        case .loseAndRestore: try await loseAndRestore()
        }
    }

    private func changeInbox() async throws {
        let (inbox, name) = (desk.any(RandomDesk.inboxes) ?? "inbox", desk.any(["Recipes", "Model"]) ?? "Model")
        if extras.contains("forget"), desk.chance(50) {
            try await run(.forget(name, into: inbox))
        } else if desk.chance(50) {
            try await run(.rollback(name, into: inbox))
        } else {
            try await run(.prune(inbox, name: desk.chance(50) ? name : nil))
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
            isComplete(state, at: store, in: snapshot)
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

    private func isComplete(_ state: StoreState, at store: String, in snapshot: Snapshot) -> Bool {
        desk.files(of: state, at: store).allSatisfy { snapshot.bytes(of: $0) != nil }
    }

    // MARK: What must be so

    @discardableResult
    private func run(
        _ command: RandomCommand, input: ChildProgram.Input = .nothing, killing: Bool = true
    ) async throws -> ChildProgram.Outcome {
        let before = try desk.look()
        var touch = command.touch(on: desk, before)
        for store in command.stores { touch.paths.formUnion(desk.unfinished[store] ?? []) }
        let place = command.store.map { desk.resolve($0) ?? $0 }
        let isUnreadable = place.map { desk.reader.state(of: $0, in: before) == nil } ?? false
        let call = killing && desk.chance(18) ? Int.random(in: 1...70, using: &desk.random) : nil
        let outcome = try await start(command.arguments, input: input, killingAt: call)
        commandCount += 1
        story.append("  \(command.arguments.joined(separator: " ")): \(Self.words(outcome))")
        switch outcome.status {
        case .exited(let status): try require(status != 70, "it says itself that this is an error in it")
        case .signalled(let signal): try require(signal == SIGKILL && call != nil, "it crashed")
        }
        let isKilled = outcome.status == .signalled(SIGKILL)
        noteUnfinished(command, touch, isKilled)
        let after = try desk.look()
        let (lost, new) = after.differences(since: before)
        let named = command.stores.map { desk.resolve($0) ?? $0 }
        for path in lost {
            // SQLite may bring a log into the store of its own accord: that changes no row.
            let isCheckpointed = named.contains { store in
                ([store] + StorePaths(store).sidecars).contains(path) && desk.reader.state(of: store, in: before) != nil
                    && desk.reader.state(of: store, in: before) == desk.reader.state(of: store, in: after)
            }
            try require(
                touch.allows(path) || isCheckpointed || hasMoved(path, with: command, before, after),
                "\(path) is \(after[path] == nil ? "gone" : "changed")")
            // What was damaged is set aside, and not removed.
            if case .restore = command, isUnreadable, let bytes = before.bytes(of: path) {
                try require(
                    after.entries.values.contains(.file(bytes)) || isKilled && after[path] == nil,
                    "\(path) is nowhere any more")
            }
        }
        // SQLite makes an empty log beside a store that it only reads, and a program that is killed leaves it.
        for path in new where !(path.hasSuffix("-wal") && after.bytes(of: path)?.isEmpty == true) {
            try require(touch.allowsNew(path), "\(path) is new")
        }
        try checkReferences(before, after)
        if outcome.status == .exited(0) { try check(command, outcome, before, after) }
        desk.noteCopies(of: command.store ?? "", in: after)
        return outcome
    }

    /// What else lies in a store's support folder goes where the store goes.
    private func hasMoved(
        _ path: String, with command: RandomCommand, _ before: Snapshot, _ after: Snapshot
    ) -> Bool {
        guard case .move(let store, let folder, true, _) = command, let bytes = before.bytes(of: path) else {
            return false
        }
        let (old, name) = (desk.resolve(store) ?? store, StorePaths(store).name)
        let (support, target) = (StorePaths(old).support, StorePaths("\(folder)/\(name)").support)
        return path.hasPrefix(support + "/") && after.bytes(of: target + path.dropFirst(support.count)) == bytes
    }

    /// A command that was killed while it removed a store may go on when it is run again.
    private func noteUnfinished(_ command: RandomCommand, _ touch: Touch, _ isKilled: Bool) {
        switch command {
        case .destroy(let store), .move(let store, _, true, _):
            let place = desk.resolve(store) ?? store
            if isKilled { desk.unfinished[place, default: []].formUnion(touch.paths) }
            if isKilled { desk.unfinished[store, default: []].formUnion(touch.paths) }
        default: break
        }
    }

    /// A store that had all its external files has them still.
    private func checkReferences(_ before: Snapshot, _ after: Snapshot) throws {
        for store in desk.stores(in: after) where !uncertain.contains(store) {
            guard let state = desk.reader.state(of: store, in: after), !isComplete(state, at: store, in: after) else {
                continue
            }
            let old = desk.reader.state(of: store, in: before)
            let wasIncomplete = old.map { !isComplete($0, at: store, in: before) } ?? false
            try require(wasIncomplete || isCopy(store), "\(store) has lost external files")
        }
    }

    /// Copies may have been made without external files.
    private func isCopy(_ store: String) -> Bool { store.wholeMatch(of: /.*-\d{8}T\d{6}(-\d+)?\.sqlite/) != nil }

    /// What a command that succeeded has done.
    private func check(
        _ command: RandomCommand, _ outcome: ChildProgram.Outcome, _ before: Snapshot, _ after: Snapshot
    ) throws {
        func state(_ path: String, _ snapshot: Snapshot) -> StoreState? {
            desk.reader.state(of: path, in: snapshot)
        }
        switch command {
        case .copy(let store, _, _, leavingOut: _):
            let copy = try outcome.lines.first.orThrow(violation("no path is said"))
            let source = desk.resolve(store) ?? store
            try require(state(copy, after) == state(source, before), "the copy is something else")
        case .keep(let store, _, _):
            let copy = try outcome.lines.first.orThrow(violation("no path is said"))
            let inside = after.names(in: copy).first { $0.hasSuffix(".sqlite") } ?? ""
            let source = desk.resolve(store) ?? store
            try require(state("\(copy)/\(inside)", after) == state(source, before), "the copy is something else")
        case .move(let store, let folder, _, _):
            // One that was finished now was checked when it began.
            guard let source = state(desk.resolve(store) ?? store, before) else { return }
            let target = desk.resolve("\(folder)/\(StorePaths(store).name)") ?? ""
            try require(state(target, after) == source, "what was moved is something else")
        case .destroy(let store):
            try require(after[desk.resolve(store) ?? store] == nil, "what was destroyed is there")
        case .restore(let copy, let store, _):
            let source = after.names(in: copy).first { $0.hasSuffix(".sqlite") }.map { "\(copy)/\($0)" }
            let target = desk.resolve(store) ?? store
            let content = state(source ?? desk.resolve(copy) ?? copy, before)
            try require(state(target, after) == content, "what was restored is something else")
        case .setMetadata, .pruneCopies, .send, .receive, .rollback, .prune, .forget: break
        }
    }

    // MARK: Running

    private func start(
        _ arguments: [String], input: ChildProgram.Input = .nothing, killingAt call: Int? = nil
    ) async throws -> ChildProgram.Outcome {
        var environment = ["TMPDIR": desk.temporary.string, "XDG_CONFIG_HOME": desk.configuration.string]
        if let call, let shim {
            let log = desk.temporary.appending("calls")
            try? PlatformCalls.removeFile(log)
            environment.merge(shim.environment(.kill, at: call, log: log)) { $1 }
        }
        return try await BuiltProgram.run(arguments, input: input, environment: environment, in: desk.path)
    }

    private static func words(_ outcome: ChildProgram.Outcome) -> String {
        let error = outcome.stderr.split(separator: "\n").first { $0.contains("error: ") } ?? ""
        return switch outcome.status {
        case .exited(let status): "\(status) \(error)"
        case .signalled(let signal): "signal \(signal)"
        }
    }

    private func violation(_ words: String) -> Violation {
        Violation(words: "\(words)\n\(story.joined(separator: "\n"))")
    }

    private func require(_ condition: Bool, _ words: @autoclosure () -> String) throws {
        if !condition { throw violation(words()) }
    }
}

extension Optional {
    fileprivate func orThrow(_ error: any Error) throws -> Wrapped {
        guard let self else { throw error }
        return self
    }
}
