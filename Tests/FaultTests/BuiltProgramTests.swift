import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite struct BuiltProgramTests {
    @Test func `the program that was built with the tests runs`() async throws {
        let outcome = try await BuiltProgram.expectSuccess(["--version"])
        #expect(outcome.lines == ["0.1.0"])
    }

    /// A program with Swift's libraries in it behaves otherwise than one that loads them: only the first is shipped.
    @Test(.enabled(if: ProcessInfo.processInfo.environment[BuiltProgram.variable] != nil))
    func `the program that was named is the one under test, and carries its Swift libraries`() async throws {
        let named = try #require(ProcessInfo.processInfo.environment[BuiltProgram.variable])
        #expect(try BuiltProgram.path().string == named)
        for program in ["ship-store", "reader-example"] {
            let loaded = try await ChildProgram("/usr/bin/ldd", [try BuiltProgram.program(program).string]).wait()
            #expect(loaded.status == .exited(0))
            #expect(!loaded.stdout.contains("libswift") && !loaded.stdout.contains("libFoundation"))
        }
    }

    @Test func `what it reads, writes and says comes through`() async throws {
        let cat = try ChildProgram("/bin/sh", ["-c", "cat; echo over >&2; exit 3"], input: .pipe)
        await cat.write(Array("hello\n".utf8))
        #expect(try await cat.waitForLine(containing: "ell", on: .output) == "hello")
        cat.closeInput()
        let outcome = try await cat.wait()
        #expect(outcome.status == .exited(3))
        #expect((outcome.stdout, outcome.stderr) == ("hello\n", "over\n"))
        let bytes = [UInt8](repeating: 7, count: 1_000_000)
        #expect(try await ChildProgram("/bin/cat", [], input: .bytes(bytes)).wait().output == bytes)
        #expect(try await ChildProgram("/bin/true", [], input: .bytes(bytes)).wait().status == .exited(0))
    }

    @Test func `a signal reaches it, and the end of time`() async throws {
        let sleeper = try ChildProgram("/bin/sleep", ["600"])
        sleeper.signal(SIGTERM)
        #expect(try await sleeper.wait().status == .signalled(SIGTERM))
        await #expect(throws: ChildProgram.TimedOut.self) {
            try await ChildProgram("/bin/sleep", ["600"]).wait(timeout: .milliseconds(10))
        }
    }

    @Test func `it does not outlive its owner`() async throws {
        let id = try ChildProgram("/bin/sleep", ["600"]).processID
        let deadline = ContinuousClock.now + .seconds(10)
        while kill(id, 0) == 0, .now < deadline { await Task.yield() }
        #expect(kill(id, 0) == -1)
    }
}
