import ArgumentParser
import Foundation
import ShipStore
import ShipStoreNetwork
import StoreFiles

@main
struct ShipStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ship-store",
        abstract: "Ship a live SQLite store to a companion device: consistent, small, installed in one step.",
        discussion: """
            On the companion device:   ship-store receive --into inbox
            On the phone:              ship-store send Recipes.sqlite --to 127.0.0.1:7645
            Through a pipe:            ship-store send Recipes.sqlite --to - \\
                                         | ship-store receive --into inbox --from -
            See it all at once:        ship-store demo
            """,
        version: Software.version,
        subcommands: [
            SendCommand.self, ReceiveCommand.self, HoldingsCommand.self, ListCommand.self, WatchCommand.self,
            RollbackCommand.self,
            PruneCommand.self, ForgetCommand.self, CopyCommand.self, CopiesCommand.self, RestoreCommand.self,
            MoveCommand.self,
            DestroyCommand.self, BasesCommand.self, VerifyCommand.self, InspectCommand.self, MetadataCommand.self,
            IdentityCommand.self,
            TrustCommand.self, PeersCommand.self, DistrustCommand.self, DemoCommand.self, DemoWriterCommand.self,
        ])

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // Nothing has been started yet that it would have to share its memory with.
        if arguments == [CheckerProcess.command] { Foundation.exit(CheckerProcess.run()) }
        if arguments == ["--version"] { return print(Software.version) }
        PlatformCalls.returnFreedMemory()
        PlatformCalls.forbidDumps()
        do {
            var command = try await command(of: arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            end(with: error)
        }
    }

    /// Reads the command line.
    ///
    /// All commands together take as long over a line as it takes to ship a small store: so the one that it names reads it alone.
    /// What that one cannot read, or leaves to others, as a call for help, they read again.
    private static func command(of arguments: [String]) async throws -> any ParsableCommand {
        let named = configuration.subcommands.first { $0.configuration.commandName == arguments.first }
        if let named, let command = try? named.parseAsRoot(Array(arguments.dropFirst())), type(of: command) == named {
            return command
        }
        return try await asyncParseAsRoot(arguments)
    }

    /// Help and the version go to standard output, what has been explained needs no more words, and what has not is
    /// explained here.
    private static func end(with error: any Error) -> Never {
        let code = exitCode(for: error)
        guard !code.isSuccess, !(error is ExitCode) else { exit(withError: error) }
        // The command line could not be read, so nobody else knows what is meant for standard output.
        let arguments = CommandLine.arguments.dropFirst()
        let isTaken = arguments.first == "send" && arguments.contains("-")
        let console = Console(.normal, arguments.contains("--json") && !isTaken ? .json : .words)
        guard code == .validationFailure else {
            console.fail("\(message(for: error))", hint: nil, .unexpected)
            exit(withError: ExitCode(ExitStatus.unexpected.rawValue))
        }
        let named = arguments.first
        let command = configuration.subcommands.map { $0.configuration.commandName ?? "" }.first { $0 == named }
        let explanation = UsageExplanation(message(for: error), of: command)
        console.fail(explanation.cause, hint: explanation.hint, .usage)
        exit(withError: ExitCode(ExitStatus.usage.rawValue))
    }
}
