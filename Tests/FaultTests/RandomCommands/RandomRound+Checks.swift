import Foundation
import StoreFiles
import SystemPackage
import TestSupport

/// What must be so after each command.
extension RandomRound {
    /// What is known before one command runs, or two at once.
    struct Attempt {
        let commands: [RandomCommand]
        let before: Snapshot
        let touch: Touch
        /// Whose bytes are of no store that can be read.
        let unreadable: Set<String>
        /// To which an app writes meanwhile.
        let liveStore: String?
        /// Without symbolic links, as far as they led anywhere.
        let named: [String]

        /// Whether an app writes to the file, or SQLite beside it.
        func isLive(_ path: String) -> Bool {
            liveStore.map { ([$0] + StorePaths($0).sidecars).contains(path) } ?? false
        }
    }

    func attempt(_ commands: [RandomCommand], _ before: Snapshot, liveStore: String?) -> Attempt {
        var touch = Touch()
        for (index, command) in commands.enumerated() {
            let own = command.touch(on: desk, before, beside: commands.count == 2 ? commands[1 - index] : nil)
            touch.paths.formUnion(own.paths)
            touch.folders.formUnion(own.folders)
            touch.newIn.formUnion(own.newIn)
            for store in command.stores { touch.paths.formUnion(desk.unfinished[store] ?? []) }
        }
        if let liveStore { touch.paths.formUnion([liveStore] + StorePaths(liveStore).sidecars) }
        return Attempt(
            commands: commands, before: before, touch: touch,
            unreadable: Set(
                commands.compactMap { command in
                    guard case .restore(_, let store, _) = command else { return nil }
                    let place = desk.resolve(store) ?? store
                    return desk.reader.state(of: place, in: before) == nil ? place : nil
                }), liveStore: liveStore, named: commands.flatMap(\.stores).map { desk.resolve($0) ?? $0 })
    }

    func check(
        _ attempt: Attempt, _ outcomes: [ChildProgram.Outcome], _ report: LiveApp.Report?, isKilled mayBeKilled: Bool
    ) throws {
        for (index, outcome) in outcomes.enumerated() {
            switch outcome.status {
            case .exited(let status): try require(status != 70, "it says itself that this is an error in it")
            case .signalled(let signal):
                try require(signal == SIGKILL && mayBeKilled && index == 0, "it crashed: \(outcome.stderr)")
            }
        }
        let (before, after) = (attempt.before, try desk.look())
        let isKilled = outcomes[0].status == .signalled(SIGKILL)
        noteUnfinished(attempt.commands[0], attempt.touch, isKilled)
        try checkBytes(attempt, isKilled: isKilled, after)
        try checkReferences(before, after)
        if let report, let store = attempt.liveStore {
            try check(report, on: store, beside: attempt.commands[0], outcomes[0], after)
        }
        // What two commands make of one store depends on which is first.
        if outcomes.count == 1, outcomes[0].status == .exited(0) {
            try check(attempt.commands[0], outcomes[0], before, after, report)
        }
        desk.noteCopies(of: attempt.commands[0].store ?? "", in: after)
    }

    private func checkBytes(_ attempt: Attempt, isKilled: Bool, _ after: Snapshot) throws {
        let before = attempt.before
        let (lost, new) = after.differences(since: before)
        for path in lost {
            // SQLite may bring a log into the store of its own accord: that changes no row.
            let isCheckpointed = attempt.named.contains { store in
                ([store] + StorePaths(store).sidecars).contains(path) && desk.reader.state(of: store, in: before) != nil
                    && desk.reader.state(of: store, in: before) == desk.reader.state(of: store, in: after)
            }
            let isMoved = attempt.commands.contains { hasMoved(path, with: $0, before, after) }
            try require(
                attempt.touch.allows(path) || isCheckpointed || isMoved,
                "\(path) is \(after[path] == nil ? "gone" : "changed")")
            // What was damaged is set aside, and not removed; but for what a killed restore had written down for this one.
            let isNote = attempt.unreadable.contains { StorePaths($0).note == path }
            if attempt.commands.count == 1, !attempt.unreadable.isEmpty, !attempt.isLive(path), !isNote,
                let bytes = before.bytes(of: path)
            {
                try require(
                    after.entries.values.contains(.file(bytes)) || isKilled && after[path] == nil,
                    "\(path) is nowhere any more")
            }
        }
        // SQLite makes an empty log beside a store that it only reads, and a program that is killed leaves it.
        for path in new where !(path.hasSuffix("-wal") && after.bytes(of: path)?.isEmpty == true) {
            try require(attempt.touch.allowsNew(path), "\(path) is new")
        }
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
        for store in desk.stores(in: after)
        where !uncertain.contains(store) && !desk.isLinked(store, in: after) {
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
        _ command: RandomCommand, _ outcome: ChildProgram.Outcome, _ before: Snapshot, _ after: Snapshot,
        _ report: LiveApp.Report?
    ) throws {
        func state(_ path: String, _ snapshot: Snapshot) -> StoreState? {
            desk.reader.state(of: path, in: snapshot)
        }
        switch command {
        case .copy(let store, _, _, leavingOut: _):
            let copy = try outcome.lines.first.orThrow(violation("no path is said"))
            let source = desk.resolve(store) ?? store
            try require(state(copy, after) == state(source, before), "the copy is something else")
            try checkLog(of: state(copy, after), against: state(source, before), report)
        case .keep(let store, _, _):
            let copy = try outcome.lines.first.orThrow(violation("no path is said"))
            let inside = after.names(in: copy).first { $0.hasSuffix(".sqlite") } ?? ""
            let source = desk.resolve(store) ?? store
            try require(state("\(copy)/\(inside)", after) == state(source, before), "the copy is something else")
            try checkLog(of: state("\(copy)/\(inside)", after), against: state(source, before), report)
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
}

extension Optional {
    func orThrow(_ error: any Error) throws -> Wrapped {
        guard let self else { throw error }
        return self
    }
}
