import ShipStore
import Subprocess
import SystemPackage

/// What the user wants to be run after a change, by `/bin/sh -c`. Its streams are ours, but for standard input.
struct ChangeCommand {
    /// How it did not end well.
    struct Problem: Hashable {
        /// After `the command`.
        let words: String
        /// What a shell would say.
        let status: Int32
    }

    /// Longest text of one variable: the system's own limit is 128 KiB with the name [execve(2), `MAX_ARG_STRLEN`].
    private static let longestVariable = 120_000  // bytes
    /// How long it may take to end once it was asked to, before it is killed.
    private static let terminationTime = Duration.seconds(2)

    private let command: String

    init(_ command: String) { self.command = command }

    /// Runs it to its end. If the task is cancelled, the command is stopped, with all that it started.
    ///
    /// - Throws: `CancellationError`.
    func run(for change: ChangeLine) async throws -> Problem? {
        var platform = PlatformOptions()
        platform.processGroupID = 0
        platform.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: Self.terminationTime)
        ]
        let status: TerminationStatus
        do {
            status = try await Subprocess.run(
                .path("/bin/sh"), arguments: ["-c", command], environment: environment(for: change),
                platformOptions: platform, input: .none, output: .currentStandardOutput, error: .currentStandardError
            ).terminationStatus
        } catch let error as SubprocessError {
            return Problem(words: "cannot be started: \(error)", status: ExitStatus.unavailable.rawValue)
        }
        try Task.checkCancellation()
        return switch status {
        case .exited(0): nil
        case .exited(let code): Problem(words: "ended with status \(code)", status: code)
        case .signaled(let signal): Problem(words: "was ended by signal \(signal)", status: 128 + signal)
        }
    }

    private func environment(for change: ChangeLine) -> Environment {
        var text = Output.json(change) ?? ""
        if text.utf8.count > Self.longestVariable { text = Output.json(change.withoutLists) ?? "" }
        return .inherit.updating([
            "SHIP_STORE_NAME": change.name, "SHIP_STORE_GENERATION": change.generation.map { "\($0)" } ?? "",
            "SHIP_STORE_PATH": change.path, "SHIP_STORE_CHANGE": text,
        ])
    }
}
