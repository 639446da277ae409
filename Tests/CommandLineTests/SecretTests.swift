import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A device's key is in its file, and nowhere else.
@Suite struct SecretTests {
    private let desk: Desk
    private let (phone, watch): (String, String)

    init() async throws {
        desk = try Desk()
        try desk.makeStore()
        phone = try await desk.id(of: "phone")
        watch = try await desk.id(of: "watch")
    }

    /// The keys of these devices, in every form in which one might be written.
    private func secrets() throws -> [[UInt8]] {
        try ["phone", "watch", "third"].flatMap { name -> [[UInt8]] in
            let path = desk["\(name)/identity.pem"]
            guard let text = try? String(contentsOfFile: path.string, encoding: .utf8) else { return [] }
            let block = try #require(text.components(separatedBy: "-----END").first)
            let lines = block.split(separator: "\n").dropFirst().map(String.init)
            guard let der = Data(base64Encoded: lines.joined()).map(Array.init) else { return [] }
            // PKCS #8 of a P-256 key holds the number itself as an OCTET STRING of 32 bytes [RFC 5915].
            guard let start = der.indices.first(where: { Array(der[$0...].prefix(2)) == [0x04, 0x20] }) else {
                return []
            }
            let number = Array(der[(start + 2)..<(start + 34)])
            let hex = number.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let base64 = Data(number).base64EncodedString()
            return [number, Array(hex.utf8), Array(hex.uppercased().utf8), Array(base64.prefix(40).utf8)]
                + lines.filter { $0.count >= 32 }.map { Array($0.utf8) }
        }
    }

    private func expectNoSecret(in outcome: ChildProgram.Outcome, _ what: String) throws {
        let said = Data(outcome.output + Array(outcome.stderr.utf8))
        for secret in try secrets() { #expect(said.range(of: Data(secret)) == nil, "\(what) tells the key") }
    }

    @Test func `the key's forms are found where they are`() throws {
        let file = try Data(contentsOf: URL(fileURLWithPath: desk["phone/identity.pem"].string))
        #expect(try secrets().contains { file.range(of: Data($0)) != nil })
        #expect(try secrets().count >= 12)
    }

    @Test func `no command tells it`() async throws {
        for arguments in [
            ["identity"], ["identity", "--json"], ["identity", "--qr"], ["trust", phone], ["trust", phone, "--json"],
            ["peers"], ["peers", "--json"], ["distrust", phone], ["distrust", phone], ["trust", watch],
            ["identity", "--help"],
        ] {
            let outcome = try await desk.run(arguments + ["--identity", "watch"])
            try expectNoSecret(in: outcome, "\(arguments)")
        }
    }

    @Test func `no session tells it, well or not`() async throws {
        try await desk.run("trust", phone, "--identity", "watch", "-q").expectSuccess()
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        for _ in 0..<2 {
            let sent = try await desk.run(
                "send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone", "--json")
            try expectNoSecret(in: sent, "send")
            try await desk.run("trust", watch, "--identity", "phone", "-q").expectSuccess()
        }
        let stranger = try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--identity", "third")
        try expectNoSecret(in: stranger, "a stranger's send")
        try expectNoSecret(in: try await receiver.stop(), "receive")
        let pairing = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch", "--pair")
        let code = try await pairing.program.waitForLine(containing: "pairing code: ")
        for words in ["000-000", String(code.trimmingPrefix("pairing code: ").prefix(7))] {
            let sent = try await desk.run(
                "send", "Recipes.sqlite", "--to", pairing.address, "--identity", "third", "--pair", words)
            try expectNoSecret(in: sent, "send --pair")
        }
        try expectNoSecret(in: try await pairing.stop(), "receive --pair")
    }

    @Test(arguments: ["key", "certificate", "middle", "doubled", "open"])
    func `no complaint about its file tells it`(damage: String) async throws {
        let path = desk["watch/identity.pem"]
        let url = URL(fileURLWithPath: path.string)
        let text = try String(contentsOf: url, encoding: .utf8)
        // The whole key stays known, so that it can be looked for.
        try await desk.shell("mkdir third; chmod 700 third; cp watch/identity.pem third/").expectSuccess()
        switch damage {
        case "key":
            try text.replacing("PRIVATE KEY", with: "PUBLIC KEY").write(to: url, atomically: false, encoding: .utf8)
        case "certificate":
            try text.replacing("CERTIFICATE", with: "X").write(to: url, atomically: false, encoding: .utf8)
        case "middle": try String(text.dropFirst(40)).write(to: url, atomically: false, encoding: .utf8)
        case "doubled": try (text + text).write(to: url, atomically: false, encoding: .utf8)
        default: try PlatformCalls.changeMode(of: path, to: [.ownerReadWrite, .otherRead])
        }
        for arguments in [
            ["identity"], ["identity", "--json"], ["peers"], ["send", "Recipes.sqlite", "--to", "127.0.0.1:9"],
        ] {
            let outcome = try await desk.run(arguments + ["--identity", "watch"])
            try expectNoSecret(in: outcome, "\(arguments) \(damage)")
        }
    }

    /// A program that is told to leave a core file, and dies of a signal that makes one.
    @Test func `no core file is left with it`() async throws {
        let script = """
            import os, resource, signal, subprocess, sys, time
            hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
            def prepare():
                resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
                # A shell has it ignored in what it runs in the background.
                signal.signal(signal.SIGQUIT, signal.SIG_DFL)
            def death(words):
                child = subprocess.Popen(words, stderr=subprocess.PIPE, preexec_fn=prepare)
                if len(words) > 2: child.stderr.readline()
                time.sleep(0.1)
                child.send_signal(signal.SIGQUIT)
                for _ in range(100):
                    pid, status = os.waitpid(child.pid, os.WNOHANG)
                    if pid: return os.WCOREDUMP(status)
                    time.sleep(0.1)
                child.kill()
                sys.exit("it lives on")
            print(death(["sleep", "60"]), death(sys.argv[1:]))
            """
        let outcome = try await ChildProgram(
            "/usr/bin/env",
            [
                "python3", "-c", script, try BuiltProgram.path().string, "receive", "--into", "inbox", "--listen",
                "127.0.0.1:0", "--identity", "watch",
            ], in: desk.path
        ).wait()
        let dumped = outcome.lines.first ?? ""
        // Where nobody may leave one there is nothing to see.
        #expect(["True False", "False False"].contains(dumped), "\(dumped) \(outcome.stderr)")
    }
}
