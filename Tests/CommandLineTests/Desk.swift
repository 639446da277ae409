import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A folder of its own in which a user runs the program, with a temporary folder of its own beside it.
final class Desk: Sendable {
    let path: FilePath
    /// `TMPDIR` of every program that runs here.
    let temporary: FilePath
    /// `XDG_CONFIG_HOME` of every program that runs here.
    let configuration: FilePath
    /// `XDG_STATE_HOME` of every program that runs here.
    let state: FilePath
    private let scratch: ScratchFolder

    /// - Parameter scratch: Where it stands; it goes away with it.
    init(in scratch: ScratchFolder? = nil) throws {
        let scratch = try scratch ?? ScratchFolder()
        self.scratch = scratch
        path = try scratch.folder("desk")
        temporary = try scratch.folder("tmp")
        configuration = try scratch.folder("config")
        state = try scratch.folder("state")
    }

    /// A file out of the way, of a name of its own.
    func scratchFile(_ name: String) -> FilePath { scratch.path.appending("\(UUID().uuidString).\(name)") }

    subscript(_ name: String) -> FilePath { path.appending(name) }

    private var environment: [String: String] {
        get throws {
            [
                "TMPDIR": temporary.string, "XDG_CONFIG_HOME": configuration.string, "XDG_STATE_HOME": state.string,
                "SHIP": try BuiltProgram.path().string,
            ]
        }
    }

    func run(
        _ arguments: String..., input: ChildProgram.Input = .nothing, timeout: Duration = .seconds(60)
    ) async throws -> ChildProgram.Outcome {
        try await run(arguments, input: input, timeout: timeout)
    }

    func run(
        _ arguments: [String], input: ChildProgram.Input = .nothing, timeout: Duration = .seconds(60)
    ) async throws -> ChildProgram.Outcome {
        let outcome = try await BuiltProgram.run(
            arguments, input: input, environment: environment, in: path, timeout: timeout)
        // Standard output may be meant for a shipment.
        let isTaken = arguments.first == "send" && arguments.contains("-")
        if arguments.contains("--json"), !isTaken { try outcome.expectOutput(of: arguments[0]) }
        return outcome
    }

    func start(_ arguments: String..., input: ChildProgram.Input = .nothing) throws -> ChildProgram {
        try start(arguments, input: input)
    }

    func start(_ arguments: [String], input: ChildProgram.Input = .nothing) throws -> ChildProgram {
        try BuiltProgram.start(arguments, input: input, environment: environment, in: path)
    }

    /// The same through another program, whose arguments it follows.
    func start(
        _ arguments: [String], through program: [String], input: ChildProgram.Input
    ) throws -> ChildProgram {
        let words = program + [try BuiltProgram.path().string] + arguments
        return try ChildProgram("/usr/bin/env", words, input: input, environment: environment, in: path)
    }

    /// Looks again and again.
    func waitUntil(within limit: Duration = .seconds(10), _ isSo: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + limit
        while try !isSo() {
            guard .now < deadline else { throw TooLate() }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private struct TooLate: Error {}

    /// Runs lines of a shell, which stops at the first command that fails; `$SHIP` is the program.
    func shell(_ lines: String, timeout: Duration = .seconds(60)) async throws -> ChildProgram.Outcome {
        try await ChildProgram(
            "/bin/sh", ["-euc", lines], environment: environment, in: path
        ).wait(timeout: timeout)
    }

    /// The same with what only bash has.
    func bash(_ lines: String, timeout: Duration = .seconds(60)) async throws -> ChildProgram.Outcome {
        try await ChildProgram(
            "/bin/bash", ["-euc", lines], environment: environment, in: path
        ).wait(timeout: timeout)
    }

    /// Starts a receiver, and waits until it listens.
    func listen(
        on address: String = "127.0.0.1:0", into inbox: String = "inbox", _ options: String...
    ) async throws -> Receiver {
        try await listen(on: address, into: inbox, options)
    }

    func listen(on address: String, into inbox: String, _ options: [String]) async throws -> Receiver {
        let program = try BuiltProgram.start(
            ["receive", "--into", inbox, "--listen", address] + options, environment: environment, in: path)
        let line = try await program.waitForLine(containing: "listening on ")
        return Receiver(program: program, address: String(line.trimmingPrefix("listening on ")))
    }

    /// What no program may leave behind, wherever it ended.
    var leftovers: [String] {
        get throws {
            let files = FileManager.default
            let names = try files.subpathsOfDirectory(atPath: path.string)
            return try files.contentsOfDirectory(atPath: temporary.string)
                + names.filter { $0.contains("/staging/") || $0.contains(".ship-store-") }
                + remembered.filter { $0.hasPrefix("ship-store-") }
        }
    }

    /// Where senders here remember what was acknowledged.
    var memory: FilePath { state.appending("ship-store").appending("bases") }

    /// What is in that folder; nothing if it is not there.
    var remembered: [String] { (try? Folder.names(in: memory)) ?? [] }

    /// Waits until a copy is being made in that folder. The folders in there that begin as its own does may go at once: whether one can be made is
    /// tried before.
    func waitForRememberedCopy() async throws {
        try await waitUntil {
            remembered.contains {
                $0.hasPrefix("ship-store-") && (try? Folder.names(in: memory.appending($0)).isEmpty) == false
            }
        }
    }

    /// Whether the inbox holds just what the store does, seen as any reader sees it.
    func hasInstalled(_ name: String, in inbox: String = "inbox", from store: String) throws -> Bool {
        try StoreContent(of: path.appending(inbox).appending(name + ".sqlite")) == StoreContent(of: self[store])
    }
}

/// A receiver that listens.
struct Receiver {
    let program: ChildProgram
    /// As it says itself, and as a sender is told.
    let address: String

    var port: UInt16 { address.split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }

    /// Tells it to stop.
    func stop(_ signal: Int32 = SIGTERM) async throws -> ChildProgram.Outcome {
        program.signal(signal)
        return try await program.wait(timeout: .seconds(20))
    }
}
