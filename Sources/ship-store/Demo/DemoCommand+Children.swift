import Foundation
import ShipStore
import ShipTransport
import StoreFiles
import Subprocess
import SystemPackage

/// This very program as other processes of the demo.
extension DemoCommand {
    /// A child that did not do what the demo needs; it has said why on standard error.
    struct Failed: Error, CustomStringConvertible {
        let what: String
        var description: String { "\(what) failed" }
    }

    /// The members of a line of the program's JSON that the demo reads.
    private struct Line: Decodable {
        let event: String
        let address: String?
        let wire: Int64?
        let encoding: String?
        let error: String?
    }

    /// Runs a receiver for as long as `body` does, which is given the address on which it listens.
    static func withReceiver(into inbox: FilePath, _ body: (_ address: String) async throws -> Void) async throws {
        let arguments = [
            "receive", "--into", inbox.text, "--listen", "127.0.0.1:0", "--insecure", "--json", "--quiet",
        ]
        try await with(arguments, inbox) { lines in
            for try await line in lines where line.event == "listening" {
                guard let address = line.address else { break }
                return try await body(address)
            }
            throw Failed(what: "receive")
        }
    }

    /// Runs a writer that keeps the store busy for as long as `body` does.
    static func withWriter(to store: FilePath, _ body: () async throws -> Void) async throws {
        try await with([DemoWriterCommand.name, store.text], store) { lines in
            for try await line in lines where line.event == "writing" { return try await body() }
            throw Failed(what: "the writer")
        }
    }

    /// How a shipment went: bytes on the wire, whether only the changes of the store went, and whether an earlier shipment
    /// that broke off was continued.
    typealias Sent = (wire: Int64, isDelta: Bool, isResumed: Bool)

    /// Ships the store once.
    ///
    /// - Returns: `nil` if the link broke.
    static func send(_ store: FilePath, to address: String) async throws -> Sent? {
        let result = try await Subprocess.run(
            shell,
            arguments: arguments(["send", store.text, "--to", address, "--insecure", "--json", "--quiet"], store),
            output: .string(limit: 1 << 20), error: .discarded)
        // The link broke, or the other side saw it break first.
        if result.terminationStatus == .exited(ExitStatus.protocolBroken.rawValue) { return nil }
        let lines = result.standardOutput.split(separator: "\n").compactMap { decode($0) }
        guard result.terminationStatus.isSuccess, let end = lines.last(where: { $0.event == "finished" }),
            let wire = end.wire
        else { throw Failed(what: "send: \(lines.last?.error ?? "it")") }
        return (
            wire: wire, isDelta: end.encoding == "delta", isResumed: lines.contains { $0.event == "resumed" }
        )
    }

    /// Runs a sender that follows a store for as long as `body` does, which is given the bytes on the wire of each shipment.
    static func withFollower(
        of store: FilePath, to address: String, _ body: (AsyncThrowingStream<Int64, any Error>) async throws -> Void
    ) async throws {
        let arguments = [
            "send", store.text, "--to", address, "--follow", "--settle", "100ms", "--insecure", "--json", "--quiet",
        ]
        try await with(arguments, store) { lines in
            let (sent, continuation) = AsyncThrowingStream<Int64, any Error>.makeStream()
            let reading = Task {
                for try await line in lines where line.event == "finished" { continuation.yield(line.wire ?? 0) }
                continuation.finish()
            }
            defer { reading.cancel() }
            try await body(sent)
        }
    }

    private static let shell = Executable.path("/bin/sh")

    /// The arguments of a shell that becomes this program. The folder of the demo holds what the sender remembers, and goes at the end.
    private static func arguments(_ words: [String], _ path: FilePath) throws -> Arguments {
        guard let program = PlatformCalls.program else { throw Failed(what: "finding this program") }
        return Arguments(running: [program.text] + words, with: "XDG_STATE_HOME", path.removingLastComponent())
    }

    /// Runs the program, hands over what it says, and stops it when `body` is done.
    private static func with(
        _ words: [String], _ path: FilePath, _ body: (AsyncThrowingStream<Line, any Error>) async throws -> Void
    ) async throws {
        var platform = PlatformOptions()
        platform.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(5))]
        _ = try await Subprocess.run(
            shell, arguments: arguments(words, path), platformOptions: platform, input: .none, output: .sequence,
            error: .currentStandardError
        ) { execution in
            let (lines, continuation) = AsyncThrowingStream<Line, any Error>.makeStream()
            try await withThrowingTaskGroup(of: Void.self) { group in
                // Read to the end, so that the child never waits for a reader.
                group.addTask {
                    for try await text in execution.standardOutput.strings() {
                        if let line = decode(text) { continuation.yield(line) }
                    }
                    continuation.finish()
                }
                let result: Result<Void, any Error>
                do {
                    result = .success(try await body(lines))
                } catch {
                    result = .failure(error)
                }
                await execution.teardown(using: platform.teardownSequence)
                try await group.waitForAll()
                try result.get()
            }
        }
    }

    private static func decode(_ text: some StringProtocol) -> Line? {
        try? JSONDecoder().decode(Line.self, from: Data(text.utf8))
    }
}

/// A link that breaks: it forwards bytes of the sender to a receiver, and closes both ends after a number of them.
extension DemoCommand {
    private static let carryTimeout = Duration.seconds(10)

    /// Listens for as long as `body` runs.
    ///
    /// - Parameters:
    ///   - receiver: The other end of the link.
    ///   - most: Bytes of the sender that the link forwards.
    ///   - body: Is given the address of the sender's end.
    static func withBreakingLink(
        to receiver: Endpoint, after most: Int, _ body: @escaping @Sendable (_ address: String) async throws -> Void
    ) async throws {
        let (addresses, continuation) = AsyncStream<String>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await Listener.serve(
                    on: .tcp(host: "127.0.0.1", port: 0), onListening: { continuation.yield("\($0)") }
                ) { near in
                    try? await PeerLink.withLink(to: receiver) { try await carry(near, $0, most) }
                    return false
                }
                continuation.finish()
            }
            for await address in addresses {
                try await body(address)
                break
            }
            group.cancelAll()
        }
    }

    private static func carry(_ near: PeerLink, _ far: PeerLink, _ most: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var left = most
                while left > 0, let bytes = try await near.reader.next(within: carryTimeout) {
                    try await far.writer.write(Array(bytes.prefix(left)), within: carryTimeout)
                    left -= bytes.count
                }
            }
            group.addTask {
                while let bytes = try await far.reader.next(within: carryTimeout) {
                    try await near.writer.write(bytes, within: carryTimeout)
                }
            }
            // When one direction ends, both ends are closed.
            try await group.next()
            group.cancelAll()
        }
    }
}
