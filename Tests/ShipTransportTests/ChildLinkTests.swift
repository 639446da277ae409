import FoundationEssentials
import ShipProtocol
import ShipTransport
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct `A child as a link` {
    @Test func `gets and gives bytes`() async throws {
        let back = try await PeerLink.withLink(to: .command("cat")) { link throws in
            #expect(link.direction == .twoWay)
            async let sent: Void = {
                try await link.writer.write(pattern(2_000_000), within: patience)
                try await link.writer.finish()
            }()
            let reader = link.reader
            let back = try await reader.all()
            try await sent
            return back
        }
        #expect(back == pattern(2_000_000))
    }

    @Test func `that fails says how it ended, whether one reads or writes`() async throws {
        await #expect(throws: LinkError.childFailed(.exited(code: 3))) {
            try await PeerLink.withLink(from: .command("echo hello; exit 3")) { link throws in
                let reader = link.reader
                #expect(try await reader.next(within: patience) == Array("hello\n".utf8))
                _ = try await reader.next(within: patience)
            }
        }
        await #expect(throws: LinkError.childFailed(.exited(code: 127))) {
            try await PeerLink.withLink(to: .command("no-such-command 2>/dev/null")) { link throws in
                while true { try await link.writer.write(pattern(65536), within: patience) }
            }
        }
        await #expect(throws: LinkError.childFailed(.signalled(9))) {
            try await PeerLink.withLink(from: .command("kill -9 $$")) { link throws in
                let reader = link.reader
                _ = try await reader.next(within: patience)
            }
        }
    }

    @Test func `that refuses is still heard after a write has failed`() async throws {
        try await PeerLink.withLink(to: .command("exec <&-; echo refused; sleep 0.1; exit 3")) { link throws in
            await #expect(throws: LinkError.childFailed(.exited(code: 3))) {
                while true { try await link.writer.write(pattern(65536), within: patience) }
            }
            let reader = link.reader
            let word = try await reader.next(within: patience)
            #expect(word == Array("refused\n".utf8))
        }
    }

    @Test func `that ends its output and goes on is waited for`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("done")
        try await PeerLink.withLink(to: .command("exec >&-; cat >/dev/null; sleep 0.2; touch '\(path)'")) {
            link throws in
            try await link.writer.write(pattern(100_000), within: patience)
        }
        #expect((try? PlatformCalls.status(of: path)) != nil)
    }

    @Test(arguments: ["sleep 60", "trap '' TERM; while :; do sleep 0.1; done"])
    func `is stopped when the task is cancelled`(command: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("pid")
        let start = ContinuousClock.now
        let task = Task {
            try await PeerLink.withLink(to: .command("echo $$ > '\(path)'; echo; \(command); true")) { link throws in
                let reader = link.reader
                while try await reader.next(within: .seconds(60)) != nil {}
            }
        }
        var pid = ""
        while pid.isEmpty, .now - start < patience {
            try await Task.sleep(for: .milliseconds(5))
            pid = (try? String(contentsOfFile: path.string, encoding: .utf8))?.filter(\.isNumber) ?? ""
        }
        task.cancel()
        await #expect(throws: LinkError.cancelled) { try await task.value }
        #expect(.now - start < .seconds(30))
        #expect(!FileManager.default.fileExists(atPath: "/proc/\(pid)"))
    }

    @Test func `is stopped with its own children where there is no terminal to share`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("pid")
        let hasTerminal = (try? FileDescriptor.open("/dev/tty", .readWrite)).map { try? $0.close() } != nil
        let task = Task {
            try await PeerLink.withLink(to: .command("sleep 60 & echo $! > '\(path)'; echo; wait")) { link in
                let reader = link.reader
                while try await reader.next(within: .seconds(60)) != nil { try await Task.sleep(for: .seconds(60)) }
            }
        }
        let start = ContinuousClock.now
        var pid = ""
        while pid.isEmpty, .now - start < patience {
            try await Task.sleep(for: .milliseconds(5))
            pid = (try? String(contentsOfFile: path.string, encoding: .utf8))?.filter(\.isNumber) ?? ""
        }
        task.cancel()
        _ = await task.result
        guard !hasTerminal else { return }
        // It is the init process's to bury, so it may be seen dead for a moment.
        while isRunning(pid), .now - start < patience { try await Task.sleep(for: .milliseconds(5)) }
        #expect(!isRunning(pid))
    }

    private func isRunning(_ pid: String) -> Bool {
        let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        return status.map { !$0.contains("State:\tZ") } ?? false
    }

    @Test func `is stopped when it does not end by itself`() async throws {
        let options = linkOptions {
            $0.childExitTime = .milliseconds(100)
            $0.lingerTime = .milliseconds(100)
        }
        let start = ContinuousClock.now
        try await PeerLink.withLink(to: .command("sleep 60"), options) { _ in }
        #expect(.now - start < .seconds(30))
    }

    @Test func `leaves no descriptor behind, however it ends`() async {
        await #expect(processExitsWith: .success) {
            func round() async throws {
                try await PeerLink.withLink(to: .command("cat")) { link throws in
                    try await link.writer.write([1], within: patience)
                }
                try? await PeerLink.withLink(to: .command("exit 1")) { link throws in
                    let reader = link.reader
                    _ = try await reader.next(within: patience)
                }
                let task = Task {
                    try await PeerLink.withLink(to: .command("cat")) { _ in try await Task.sleep(for: .seconds(60)) }
                }
                try await Task.sleep(for: .milliseconds(5))
                task.cancel()
                _ = await task.result
                let cancelled = Task { try await PeerLink.withLink(to: .command("cat")) { _ in } }
                cancelled.cancel()
                _ = await cancelled.result
            }
            try await round()
            let baseline = OpenDescriptors.count
            for _ in 0..<20 { try await round() }
            #expect(try await OpenDescriptors.settle(at: baseline) <= baseline)
        }
    }
}
