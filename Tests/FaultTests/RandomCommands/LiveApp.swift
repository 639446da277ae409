import Foundation
import SystemPackage
import TestSupport

/// An app that has a store open, and commits to it while commands run: `Clients/writer.py`.
final class LiveApp {
    /// From the desk.
    let store: String
    private let program: ChildProgram

    /// What it was told by SQLite.
    struct Report: Decodable {
        let committed: [Int]
        /// Of the commit after the command; `nil` if that failed.
        let last: Int?
        let failures: [String]
    }

    /// Returns once it has committed for the first time.
    init(on store: String, of desk: RandomDesk) async throws {
        self.store = store
        let script = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
            .appending("Clients/writer.py")
        program = try ChildProgram(
            "/usr/bin/env", ["python3", script.string, desk.at(store).string], input: .pipe, in: desk.path)
        _ = try await program.waitForLine(containing: "begun", on: .output)
    }

    /// Lets it commit once more, and go.
    func end() async throws -> Report {
        await program.write(Array("\n".utf8))
        let outcome = try await program.wait()
        return try JSONDecoder().decode(Report.self, from: Data((outcome.lines.last ?? "").utf8))
    }
}

extension RandomCommand {
    /// How it is told not to wait for an app that stays.
    var patience: [String] {
        switch self {
        case .copy, .keep, .restore, .move, .destroy, .setMetadata, .send: ["--busy-timeout", "2"]
        case .pruneCopies, .receive, .rollback, .prune, .forget: []
        }
    }
}

extension RandomRound {
    /// Runs a command while an app writes to a store.
    func runBesideApp(_ command: RandomCommand) async throws {
        // While it writes, nobody can say from the bytes what is in its store.
        let before = try desk.look()
        let stores = desk.stores(in: before).filter { store in
            desk.reader.state(of: store, in: before)?.hasLog == true && desk.resolve(store) == store
        }
        let named = command.store.flatMap { desk.resolve($0) }
        guard let store = named.flatMap({ desk.chance(70) && stores.contains($0) ? $0 : nil }) ?? desk.any(stores)
        else {
            try await run(command)
            return
        }
        let app = try await LiveApp(on: store, of: desk)
        story.append("  (an app writes to \(store))")
        try await run([command], beside: app, since: before)
    }

    /// What the app was told is so.
    func check(
        _ report: LiveApp.Report, on store: String, beside command: RandomCommand, _ outcome: ChildProgram.Outcome,
        _ after: Snapshot
    ) throws {
        let log = desk.reader.state(of: store, in: after)?.log
        let isNamed = command.stores.contains { $0 == store || desk.resolve($0) == store } || after[store] == nil
        let isItsEnd =
            switch command {
            case .destroy, .move(_, _, true, _), .copy: isNamed
            default: false
            }
        // Another state may have no such table, or the next number already.
        let failures = report.failures.filter { words in
            !isNamed || !(words.hasPrefix("no such table") || words.hasPrefix("UNIQUE"))
        }
        if !isItsEnd { try require(failures.isEmpty, "the app's commits failed: \(failures)") }
        if let last = report.last {
            try require(log?.contains(last) == true, "the app's last commit is not in \(store)")
        }
        // Before a restore it has written to another state.
        if !isNamed {
            try require(log?.isSuperset(of: report.committed) == true, "commits of the app are not in \(store)")
        }
        guard case .move(let name, let folder, true, _) = command, outcome.status == .exited(0), after[store] == nil
        else { return }
        let target = desk.resolve("\(folder)/\(StorePaths(name).name)") ?? ""
        let moved = desk.reader.state(of: target, in: after)?.log
        try require(
            moved?.isSuperset(of: report.committed) == true, "commits of the app are lost on the way to \(target)")
    }

    /// A copy of a store that an app writes to has the commits up to one of them.
    func checkLog(of copy: StoreState?, against source: StoreState?, _ report: LiveApp.Report?) throws {
        guard let copy, let source else { return }
        let new = copy.log.subtracting(source.log)
        try require(
            source.log.isSubset(of: copy.log) && new == Set((report?.committed ?? []).prefix(new.count)),
            "the copy has some of the app's commits, and not others")
    }
}
