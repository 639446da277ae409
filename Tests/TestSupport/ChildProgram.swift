import Foundation
import Synchronization
package import SystemPackage

/// A program as a user runs it, in a process of its own. It is killed when the last reference to it goes, so that no child
/// outlives its test.
package final class ChildProgram: Sendable {
    /// How a process ended.
    package enum Ending: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// What is left of a program that has ended.
    package struct Outcome: Sendable {
        package let status: Ending
        package let output: [UInt8]
        package let stdout: String
        package let stderr: String
        /// The lines of standard output.
        package var lines: [String] { stdout.split(separator: "\n").map(String.init) }
    }

    /// What it reads from its standard input.
    package enum Input: Sendable {
        /// The end, at once.
        case nothing
        case bytes([UInt8])
        case file(FilePath)
        /// What `write` gives, until `closeInput`.
        case pipe
    }

    package enum Stream: Hashable, Sendable { case output, error }

    /// It took too long, and has been killed.
    package struct TimedOut: Error, CustomStringConvertible {
        package let description: String
    }

    private struct State {
        var output: [UInt8] = []
        var error: [UInt8] = []
        var openStreams: Set<Stream> = [.output, .error]
        var status: Ending?
        var waiting: [UUID: @Sendable (borrowing State) -> Bool] = [:]

        var isOver: Bool { status != nil && openStreams.isEmpty }
        func text(_ stream: Stream) -> String { String(decoding: stream == .output ? output : error, as: UTF8.self) }
    }

    private let process = Process()
    private let input: Pipe?
    private let state = Mutex(State())
    private let words: String

    /// Unless a test says where, a sender remembers nothing, and nobody's home is written to.
    private static let nowhere = [
        "XDG_STATE_HOME": "/dev/null", "http_proxy": "", "https_proxy": "", "HTTPS_PROXY": "", "all_proxy": "",
        "ALL_PROXY": "",
    ]

    /// - Parameter environment: Changes to this process's own; an empty text takes a variable away.
    package init(
        _ program: FilePath, _ arguments: [String], input: Input = .nothing, environment: [String: String] = [:],
        in folder: FilePath? = nil
    ) throws {
        words = ([program.lastComponent?.string ?? ""] + arguments).joined(separator: " ")
        process.executableURL = URL(fileURLWithPath: program.string)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(Self.nowhere) { $1 }
            .merging(environment) { $1 }.filter { !$0.value.isEmpty }
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder.string) }
        let (output, error) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = error
        switch input {
        case .nothing:
            self.input = nil
            process.standardInput = FileHandle.nullDevice
        case .file(let path):
            self.input = nil
            process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: path.string))
        case .bytes, .pipe:
            let pipe = Pipe()
            self.input = pipe
            process.standardInput = pipe
        }
        process.terminationHandler = { [weak self] process in
            let status = process.terminationStatus
            self?.change { $0.status = process.terminationReason == .exit ? .exited(status) : .signalled(status) }
        }
        try Self.withoutBlockedSignals { try process.run() }
        read(output.fileHandleForReading, .output)
        read(error.fileHandleForReading, .error)
        if case .bytes(let bytes) = input {
            Self.feed(self.input) { handle in
                try handle.write(contentsOf: Data(bytes))
                try handle.close()
            }
        }
    }

    /// A child inherits the signals that its thread blocks, and the threads of Swift's tasks block most.
    private static func withoutBlockedSignals(_ body: () throws -> Void) throws {
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
    }

    deinit { if process.isRunning { _ = kill(process.processIdentifier, SIGKILL) } }

    package var processID: Int32 { process.processIdentifier }

    /// Whether it has ended by now.
    package var hasEnded: Bool { state.withLock { $0.status != nil } }

    /// What it has written so far.
    package func text(_ stream: Stream) -> String { state.withLock { $0.text(stream) } }

    package func signal(_ signal: Int32) { if process.isRunning { _ = kill(processID, signal) } }

    /// Signals it once the signal does not end it at once any more, as it does in the first moments of a program.
    package func signalOnceReady(_ signal: Int32, within limit: Duration = .seconds(10)) async throws {
        let end = ContinuousClock.now + limit
        while process.isRunning, !expects(signal), .now < end { try await Task.sleep(for: .milliseconds(5)) }
        self.signal(signal)
    }

    /// Whether the program ignores the signal, or does something of its own [proc_pid_status(5)].
    private func expects(_ signal: Int32) -> Bool {
        // Before it has become that program, it is a copy of this process, which blocks all signals.
        let program = { (id: String) in try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/exe") }
        guard program("\(processID)") != program("self") else { return false }
        let status = (try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)) ?? ""
        return status.split(separator: "\n").contains { line in
            // Not one that it blocks: Dispatch blocks all for a moment, before anything handles them.
            guard line.hasPrefix("SigIgn:") || line.hasPrefix("SigCgt:") else { return false }
            let mask = line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
            return mask >> UInt64(signal - 1) & 1 == 1
        }
    }

    /// Returns when the system has taken the bytes; they are lost if the program has ended.
    package func write(_ bytes: [UInt8]) async {
        await withCheckedContinuation { continuation in
            Self.feed(input) {
                try $0.write(contentsOf: Data(bytes))
            } then: {
                continuation.resume()
            }
        }
    }

    package func closeInput() { try? input?.fileHandleForWriting.close() }

    /// In a thread that SIGPIPE does not reach: ignoring it in the whole process would be inherited by the children.
    private static func feed(
        _ input: Pipe?, _ body: @escaping @Sendable (FileHandle) throws -> Void,
        then: @escaping @Sendable () -> Void = {}
    ) {
        Thread.detachNewThread {
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            if let handle = input?.fileHandleForWriting { try? body(handle) }
            then()
        }
    }

    /// Waits until it has ended, and its streams have: then nobody it started writes to them any more either.
    package func wait(timeout: Duration = .seconds(60)) async throws -> Outcome {
        try await wait(timeout, for: "its end") { $0.isOver }
        return state.withLock { state in
            Outcome(
                status: state.status ?? .exited(-1), output: state.output, stdout: state.text(.output),
                stderr: state.text(.error))
        }
    }

    /// Waits for a whole line that contains `text`.
    ///
    /// - Returns: The first such line.
    package func waitForLine(
        containing text: String, on stream: Stream = .error, timeout: Duration = .seconds(30)
    ) async throws -> String {
        let find = { @Sendable (all: String) -> Substring? in
            guard let end = all.lastIndex(of: "\n") else { return nil }
            return all[..<end].split(separator: "\n").first { $0.contains(text) }
        }
        try await wait(timeout, for: "the line \(text)") { find($0.text(stream)) != nil || $0.isOver }
        guard let line = find(self.text(stream)) else { throw TimedOut(description: "no line \(text): \(story)") }
        return String(line)
    }

    private func wait(
        _ timeout: Duration, for what: String, _ isMet: @escaping @Sendable (borrowing State) -> Bool
    ) async throws {
        let id = UUID()
        let inTime = await withCheckedContinuation { continuation in
            let once = Once(continuation)
            state.withLock {
                $0.waiting[id] = {
                    if isMet($0) { once.resume(true) }; return once.isDone
                }
            }
            let seconds = timeout / .seconds(1)
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { once.resume(false) }
            change { _ in }
        }
        state.withLock { $0.waiting[id] = nil }
        guard !inTime else { return }
        signal(SIGKILL)
        throw TimedOut(description: "waited \(timeout) for \(what): \(story)")
    }

    private var story: String {
        state.withLock { "\(words)\nstdout: \($0.text(.output))\nstderr: \($0.text(.error))" }
    }

    private func read(_ handle: FileHandle, _ stream: Stream) {
        Thread.detachNewThread { [weak self] in
            while true {
                let data = handle.availableData
                self?.change { state in
                    switch stream {
                    case _ where data.isEmpty: state.openStreams.remove(stream)
                    case .output: state.output += data
                    case .error: state.error += data
                    }
                }
                if data.isEmpty { break }
            }
            try? handle.close()
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            for (id, isDone) in state.waiting where isDone(state) { state.waiting[id] = nil }
        }
    }
}

/// A continuation that several may resume: the first counts.
private final class Once: Sendable {
    private let continuation: Mutex<CheckedContinuation<Bool, Never>?>

    init(_ continuation: CheckedContinuation<Bool, Never>) { self.continuation = Mutex(continuation) }

    var isDone: Bool { continuation.withLock { $0 == nil } }

    func resume(_ value: Bool) {
        continuation.withLock {
            $0?.resume(returning: value)
            $0 = nil
        }
    }
}
