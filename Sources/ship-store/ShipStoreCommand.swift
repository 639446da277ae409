import ArgumentParser
import CSQLiteHardening
import Foundation
import ShipStore
import ShipStoreNetwork
import StoreFiles
import SystemPackage

@main
struct ShipStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ship-store",
        abstract: "Ship a live SQLite store to a companion device: consistent, small, installed in one step.",
        discussion: """
            On one machine:      ship-store receive --into inbox
                                 ship-store send Recipes.sqlite --to 127.0.0.1:7645
            Between two devices: ship-store receive --into inbox --listen 0.0.0.0 --pair
                                 ship-store send Recipes.sqlite --to WATCH --pair CODE
            Through a pipe:      ship-store send Recipes.sqlite --to - \\
                                   | ship-store receive --into inbox --from -
            See it all at once:  ship-store demo
            """,
        version: Software.version,
        subcommands: [
            SendCommand.self, ReceiveCommand.self, HoldingsCommand.self, AdoptCommand.self, ListCommand.self,
            StatusCommand.self, WatchCommand.self,
            RollbackCommand.self,
            PruneCommand.self, PublishCommand.self, ForgetCommand.self, CopyCommand.self, CopiesCommand.self,
            RestoreCommand.self,
            MoveCommand.self,
            DestroyCommand.self, BasesCommand.self, VerifyCommand.self, InspectCommand.self, MetadataCommand.self,
            IdentityCommand.self,
            TrustCommand.self, PeersCommand.self, DistrustCommand.self, DemoCommand.self,
        ])

    static func main() async {
        PlatformCalls.holdStandardStreams()
        guard let arguments = PlatformCalls.arguments?.map(PathText.text) else {
            Console().fail("the arguments of this program cannot be read", hint: nil, .inputOutput)
            Foundation.exit(ExitStatus.inputOutput.rawValue)
        }
        ship_store_open_at_once()
        // First of all, so that nothing else takes part of the memory that the checker may use.
        if arguments == [CheckerProcess.command] { Foundation.exit(CheckerProcess.run()) }
        PlatformCalls.surviveClosedPipes()
        if arguments == ["--version"] { tell(Software.version) }
        let console = console(for: arguments)
        refuseToRunWithoutProc(console)
        PlatformCalls.raiseDescriptorLimit()
        PlatformCalls.returnFreedMemory()
        refuseToRunWithoutRoom(console)
        PlatformCalls.forbidDumps()
        do {
            var command = try await command(of: arguments)
            try refuseSecondPlaces(in: arguments)
            try command.refuseBytes(in: arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            TemporaryFolder.removeAll()
        } catch {
            TemporaryFolder.removeAll()
            end(arguments, with: error)
        }
    }

    /// Dispatch looks there how busy its threads are, now and then, and ends the process where it cannot [libdispatch's
    /// event_workqueue.c]: so nothing is begun.
    private static func refuseToRunWithoutProc(_ console: Console) {
        #if os(Linux)
            guard (try? PlatformCalls.status(of: FilePath("/proc/self/task"))) == nil else { return }
            console.fail(
                "this program cannot run without /proc", hint: "mount it, as with `mount -t proc proc /proc`",
                .inputOutput)
            Foundation.exit(ExitStatus.inputOutput.rawValue)
        #endif
    }

    /// What the threads of Dispatch, an event loop of NIO and a usual store take, with some room. Both end the process where they get no
    /// descriptor; and Dispatch waits for a thread that it cannot have, without end.
    private static let (fewestDescriptors, leastMemory) = (20, 128)  // MiB
    private static let fewestThreads = 16 + ProcessInfo.processInfo.activeProcessorCount

    private static func refuseToRunWithoutRoom(_ console: Console) {
        let free = PlatformCalls.freeDescriptors
        if free < fewestDescriptors {
            console.fail(
                "this program cannot run with so few descriptors: it may open \(free) files, and takes \(fewestDescriptors)",
                hint: "close other files of its parent, or raise the limit (`ulimit -n`)", .tryAgain)
        } else if !PlatformCalls.hasRoom(bytes: leastMemory << 20, threads: fewestThreads) {
            console.fail(
                "this program cannot run with so little room: it takes \(leastMemory) MiB of memory and \(fewestThreads) threads",
                hint:
                    "end other processes of its user, or raise the limits (`ulimit -v`, `-d`, `-u`; `pids.max` of a container)",
                .tryAgain)
        } else {
            return
        }
        Foundation.exit(ExitStatus.tryAgain.rawValue)
    }

    /// Reads the command line.
    ///
    /// Parsing with all subcommands takes as long as shipping a small store, so the named subcommand parses the line alone. If
    /// it cannot, or if the line asks for help, all of them parse it again.
    private static func command(of arguments: [String]) async throws -> any ParsableCommand {
        let named = configuration.subcommands.first { $0.configuration.commandName == arguments.first }
        if let named, let command = try? named.parseAsRoot(Array(arguments.dropFirst())), type(of: command) == named {
            return command
        }
        // ArgumentParser would show the overview or the help, and end well.
        if let found = Misunderstanding.first(in: arguments), named == nil || found.isOfLetters {
            throw ValidationError("")
        }
        return try await asyncParseAsRoot(arguments)
    }

    /// Writes help and the version to standard output. Explains an error unless it is an `ExitCode`, which was explained before.
    private static func end(_ arguments: [String], with error: any Error) -> Never {
        if error is ExitCode { exit(withError: error) }
        let code = exitCode(for: error)
        if code.isSuccess { tell(fullMessage(for: error)) }
        let console = console(for: arguments)
        guard code == .validationFailure else {
            console.fail("\(message(for: error))", hint: nil, .unexpected)
            exit(withError: ExitCode(ExitStatus.unexpected.rawValue))
        }
        let misunderstanding = Misunderstanding.first(in: arguments)
        let named = configuration.subcommands.compactMap { $0.configuration.commandName }.first {
            $0 == arguments.first
        }
        console.fail(
            misunderstanding?.cause ?? cause(of: message(for: error)),
            hint: misunderstanding?.hint ?? "see `ship-store \(named.map { $0 + " " } ?? "")--help`", .usage)
        exit(withError: ExitCode(ExitStatus.usage.rawValue))
    }

    /// Where no command was parsed, the raw arguments have to tell whether standard output is for JSON.
    private static func console(for arguments: [String]) -> Console {
        let isTaken = arguments.first == "send" && arguments.contains("-")
        let isJSON = " \(arguments.joined(separator: " ")) ".replacing("=", with: " ").contains(" --log-format json ")
        return Console(endsJSON: arguments.contains("--json") && !isTaken, isJSON ? .json : .text(stamped: false))
    }

    /// Writes help or the version.
    private static func tell(_ text: String) -> Never {
        Output.write(raw: text)
        Foundation.exit((Console().tellOfLostOutput() ?? .success).rawValue)
    }

    /// A sentence of ArgumentParser's, in the shape of every other error.
    static func cause(of message: String) -> PrintableText {
        let line = message.split(whereSeparator: \.isNewline).joined(separator: " ").split(separator: " ")
            .joined(separator: " ")
        let sentence = line.hasSuffix(".") ? line.dropLast() : Substring(line)
        return "\(sentence.prefix(1).lowercased())\(sentence.dropFirst())"
    }
}
