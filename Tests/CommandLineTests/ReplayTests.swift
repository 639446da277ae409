import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Shipments that come again, come too late, or come from somewhere else.
@Suite struct ReplayTests {
    private let desk: Desk
    private let (phone, watch, other): (String, String, String)

    init() async throws {
        desk = try Desk()
        try desk.makeStore()
        phone = try await desk.id(of: "phone")
        watch = try await desk.id(of: "watch")
        other = try await desk.id(of: "other")
        try await desk.run("trust", phone, "--identity", "watch", "--name", "phone", "-q").expectSuccess()
    }

    private func change() throws {
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "INSERT INTO recipe(title) VALUES ('Cake')")
    }

    private func keep(_ file: String, as device: String = "phone", _ more: String...) async throws {
        try await desk.run(["send", "Recipes.sqlite", "--to", file, "--identity", device, "-q"] + more).expectSuccess()
    }

    private func receive(_ file: String, _ more: String...) async throws -> ChildProgram.Outcome {
        try await desk.run(["receive", "--into", "inbox", "--from", file, "--identity", "watch"] + more)
    }

    private static let old = "this shipment of Recipes is an old one: its number is"
    private static let anew =
        "have it sent anew; if its device has lost count, say `ship-store trust ID --takes-over Recipes`"
    private static let otherDevice = "Recipes has come from another device so far"
    private static let takeOver =
        "if this one is to send it from now on, say `ship-store trust ID --takes-over Recipes`"

    /// The numbers of the kept generations, and whose they are.
    private func origins() async throws -> [[String]] {
        try await desk.run("list", "--into", "inbox", "--json").objects().map { object in
            [object["counter"].map { "\($0)" } ?? "-", object["producer"] as? String ?? "-"]
        }
    }

    @Test func `a file comes in once, and an older one no more`() async throws {
        try await keep("./1.shipment")
        try change()
        try await keep("./2.shipment")
        try await receive("./1.shipment").expectSuccess()
        let again = try await receive("./1.shipment").expectSuccess()
        #expect(again.stderr.contains("unchanged: Recipes, generation 1"))
        #expect(again.stderr.contains("signed by \(phone)"))
        try await receive("./2.shipment").expectSuccess()
        try await receive("./1.shipment").expectFailure(77, "\(Self.old) 1, and 2 has been here", hint: Self.anew)
        // After a step back too: what was rolled back from does not come again, and nothing older does.
        try await desk.run("rollback", "Recipes", "--into", "inbox", "-q").expectSuccess()
        try await receive("./1.shipment").expectFailure(77, "\(Self.old) 1, and 2 has been here", hint: Self.anew)
        try await receive("./2.shipment").expectFailure(77, "\(Self.old) 2, and 2 has been here", hint: Self.anew)
        #expect(try await origins() == [["1", phone], ["2", phone]])
        try await desk.run("rollback", "Recipes", "--into", "inbox", "--release", "-q").expectSuccess()
        try change()
        try await keep("./3.shipment")
        try await receive("./3.shipment").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        try await desk.run("prune", "--into", "inbox", "--keep", "1", "-q").expectSuccess()
        try await receive("./2.shipment").expectFailure(77, "\(Self.old) 2, and 3 has been here", hint: Self.anew)
        #expect(try desk.leftovers == [])
    }

    @Test func `what is forgotten leaves neither its device nor its counter`() async throws {
        try await desk.run("trust", other, "--identity", "watch", "--name", "other", "-q").expectSuccess()
        try await keep("./1.shipment")
        try change()
        try await keep("./2.shipment")
        try await receive("./2.shipment").expectSuccess()
        try await receive("./1.shipment").expectFailure(77, "\(Self.old) 1, and 2 has been here", hint: Self.anew)
        try await desk.run("forget", "Recipes", "--into", "inbox").expectSuccess()
        try await receive("./1.shipment").expectSuccess()
        #expect(try await origins() == [["1", phone]])
        try await keep("./other.shipment", as: "other")
        try await receive("./other.shipment").expectFailure(77, Self.otherDevice, hint: Self.takeOver)
        try await desk.run("forget", "Recipes", "--into", "inbox").expectSuccess()
        try await receive("./other.shipment").expectSuccess()
        #expect(try await origins() == [["1", other]])
    }

    @Test func `a device brings no more stores than it may, and others bring theirs`() async throws {
        try await desk.run("trust", other, "--identity", "watch", "--name", "other", "-q").expectSuccess()
        try await keep("./1.shipment")
        try await keep("./2.shipment", as: "phone", "--name", "Tea")
        try await keep("./3.shipment", as: "other", "--name", "Kiosk")
        let limit = ["--max-stores-per-device", "1"]
        func receive(_ file: String) async throws -> ChildProgram.Outcome {
            try await desk.run(["receive", "--into", "inbox", "--from", file, "--identity", "watch"] + limit)
        }
        try await receive("./1.shipment").expectSuccess()
        try await receive("./2.shipment").expectFailure(
            73, "the store would be one more of this device, and at most 1 are allowed of one",
            hint: "allow more with --max-stores-per-device, or remove one: `ship-store forget NAME --into DIR`")
        try await receive("./3.shipment").expectSuccess()
        try change()
        try await keep("./4.shipment")
        try await receive("./4.shipment").expectSuccess()
    }

    @Test func `once somebody is trusted, a file is signed by them, or taken on the user's word`() async throws {
        try await keep("./unsigned.shipment", as: "nobody")
        #expect(throws: (any Error).self) { try Folder.names(in: desk["nobody"]) }
        let refused = try await receive("./unsigned.shipment")
        refused.expectFailure(
            77, "nobody has signed this shipment of Recipes, and files are taken only from trusted devices",
            hint: "make it anew with `ship-store send --to FILE --sign`; --unsigned takes it all the same")
        // The same over the standard input, where that is a file.
        let redirected = try await desk.shell(
            "$SHIP receive --into inbox --from - --identity watch < unsigned.shipment")
        #expect(redirected.status == .exited(77))
        try await keep("./other.shipment", as: "other")
        try await receive("./other.shipment").expectFailure(
            77, "the device that signed this shipment is not trusted to send (its id is \(other))",
            hint:
                "if it is the one that you mean, say `ship-store trust \(other) --role sender`; --unsigned takes it all the same"
        )
        #expect(!FileManager.default.fileExists(atPath: desk["inbox/Recipes.sqlite"].string))
        try await receive("./other.shipment", "--unsigned").expectSuccess()
        try await receive("./unsigned.shipment", "--unsigned").expectSuccess()
        #expect(try await origins() == [["-", "-"]])

        try await desk.run("trust", phone, "--identity", "watch", "--only-store", "Tea", "-q").expectSuccess()
        try await keep("./phone.shipment")
        try await receive("./phone.shipment").expectFailure(
            77, "the sender may not send Recipes here",
            hint: "`ship-store trust ID --role sender --store Recipes` lets it")
        try await desk.run("trust", phone, "--identity", "watch", "--all-stores", "--no-role", "sender", "-q")
            .expectSuccess()
        #expect(try await receive("./phone.shipment").status == .exited(77))
        try await desk.run("trust", phone, "--identity", "watch", "--role", "sender", "-q").expectSuccess()
        try await receive("./phone.shipment").expectSuccess()
    }

    @Test func `who trusts nobody takes files as they are, and signed ones in their order`() async throws {
        func take(_ file: String) async throws -> ChildProgram.Outcome {
            try await desk.run("receive", "--into", "open", "--from", file)
        }
        try await keep("./0.shipment", as: "nobody")
        try await take("./0.shipment").expectSuccess()
        try await keep("./1.shipment")
        try change()
        try await keep("./2.shipment")
        try await take("./2.shipment").expectSuccess()
        try await take("./1.shipment").expectFailure(77, "\(Self.old) 1, and 2 has been here", hint: Self.anew)
        try await take("./0.shipment").expectFailure(
            77, "this shipment of Recipes has no number, as those before it have, so that it may be an old one",
            hint: "send it from the device that sent those; `receive --unsigned` takes it all the same")
        try await keep("./other.shipment", as: "other")
        try await take("./other.shipment").expectFailure(77, Self.otherDevice, hint: Self.takeOver)
    }

    @Test func `another device takes a store over once it is said, and once alone`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        try await desk.run("trust", other, "--identity", "watch", "--name", "other", "-q").expectSuccess()
        for device in ["phone", "other"] {
            try await desk.run("trust", watch, "--identity", device, "-q").expectSuccess()
        }
        func send(as device: String) async throws -> ChildProgram.Outcome {
            try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--identity", device)
        }
        try await send(as: "phone").expectSuccess()
        try change()
        try await send(as: "other").expectFailure(
            77, "the receiver refused the shipment: \(Self.otherDevice)",
            hint:
                "ask the operator there to say `ship-store trust ID --role sender --store NAME`, with --role relay if it is passed "
                + "on, or --takes-over NAME if another device sent it before; on one machine, "
                + "`ship-store receive --into INBOX --unsigned` takes it")
        try await desk.run("trust", other, "--identity", "watch", "--takes-over", "Recipes", "-q").expectSuccess()
        // A shipment that does not become current does not use that up.
        try await desk.shell(
            "cd inbox/.ship-store/Recipes; mv current ../../../kept; mkdir -p current/x"
        ).expectSuccess()
        #expect(try await send(as: "other").status == .exited(73))
        #expect(try await desk.run("peers", "--identity", "watch").stdout.contains("takes over"))
        try await desk.shell("cd inbox/.ship-store/Recipes; rm -r current; mv ../../../kept current").expectSuccess()
        try await send(as: "other").expectSuccess()
        let peers = try await desk.run("peers", "--identity", "watch").stdout
        #expect(!peers.contains("takes over"))
        try change()
        #expect(try await send(as: "phone").status == .exited(77))
        try await send(as: "other").expectSuccess()
        try await receiver.stop().expectSuccess()
        #expect(try await origins() == [["1", phone], ["3", other], ["4", other]])
    }

    @Test func `a device that has taken a store over finds nothing of it`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        for device in ["phone", "other"] {
            try await desk.run("trust", watch, "--identity", device, "-q").expectSuccess()
        }
        func send(as device: String, _ options: String...) async throws -> ChildProgram.Outcome {
            try await desk.run(
                ["send", "Recipes.sqlite", "--to", receiver.address, "--identity", device, "--json"] + options)
        }
        try await send(as: "phone").expectSuccess()
        try await desk.run("trust", other, "--identity", "watch", "--name", "other", "-q").expectSuccess()
        try await desk.run("trust", other, "--identity", "watch", "--takes-over", "Recipes", "-q").expectSuccess()
        // The very bytes that are there: if they need not come, they are known; and both senders remember alike.
        let same = try await send(as: "other").expectSuccess()
        #expect(same.stdout.contains(#""outcome":"installed""#) && same.stdout.contains(#""encoding":"columns""#))
        try change()
        let next = try await send(as: "other").expectSuccess()
        #expect(next.stdout.contains(#""encoding":"delta""#))
        try await receiver.stop().expectSuccess()
        #expect(try await origins() == [["1", phone], ["1", other], ["2", other]])
    }

    @Test func `a device that has taken a store over offers no number of the one before, whose memory it has`()
        async throws
    {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        for device in ["phone", "other"] {
            try await desk.run("trust", watch, "--identity", device, "-q").expectSuccess()
        }
        func send(as device: String, _ options: String...) async throws {
            try await desk.run(
                ["send", "Recipes.sqlite", "--to", receiver.address, "--identity", device] + options
            ).expectSuccess()
        }
        for _ in 1...3 {
            try change()
            try await send(as: "phone")
        }
        try await desk.run("trust", other, "--identity", "watch", "--name", "other", "-q").expectSuccess()
        try await desk.run("trust", other, "--identity", "watch", "--takes-over", "Recipes", "-q").expectSuccess()
        // As if it had been killed before the answer came.
        try await send(as: "other", "--no-remember")
        try await send(as: "other")
        try change()
        try await send(as: "other")
        try await receiver.stop().expectSuccess()
        #expect(try await origins().last == ["3", other])
    }

    @Test func `a device that has lost count is let in by the same word`() async throws {
        try await keep("./1.shipment")
        try await receive("./1.shipment").expectSuccess()
        let counter = desk["phone/counter"]
        try Data("x".utf8).write(to: URL(fileURLWithPath: counter.string))
        try await desk.run(
            "send", "Recipes.sqlite", "--to", "./none.shipment", "--identity", "phone", "--replace"
        ).expectFailure(
            65, "phone/counter cannot be used: it holds no number of a shipment",
            hint:
                "restore it; or remove it, and at each receiver say `ship-store trust ID --takes-over NAME` of each store"
        )
        try PlatformCalls.removeFile(counter)
        try change()
        try await keep("./1-again.shipment")
        try await receive("./1-again.shipment").expectFailure(77, "\(Self.old) 1, and 1 has been here", hint: Self.anew)
        try await desk.run("trust", phone, "--identity", "watch", "--takes-over", "Recipes", "-q").expectSuccess()
        try await receive("./1-again.shipment").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        try await receive("./1.shipment").expectFailure(77, "\(Self.old) 1, and 1 has been here", hint: Self.anew)
    }

    @Test func `a signed file is verified in a pipe too, and pipes rely on what carries them`() async throws {
        try await keep("./1.shipment")
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: desk["1.shipment"].string)))
        // r, behind preamble and header; the CRC-32 of the frame is made good.
        bytes[16 + 5] ^= 1
        let length = bytes[17..<21].reduce(0) { $0 << 8 | Int($1) }
        let end = 16 + 5 + length
        bytes.replaceSubrange(end..<end + 4, with: Self.crc32(bytes[16..<end]))
        try Data(bytes).write(to: URL(fileURLWithPath: desk["forged.shipment"].string))
        let words = "the signature is not that of this shipment: somebody has changed it, or it was damaged"
        let hint = "have it made and signed anew, and brought here by another way"
        try await receive("./forged.shipment").expectFailure(77, words, hint: hint)
        try await receive("./forged.shipment", "--unsigned").expectFailure(77, words, hint: hint)
        try await desk.run("receive", "--into", "open", "--from", "forged.shipment", "--identity", "nobody")
            .expectFailure(77, words, hint: hint)
        try await desk.shell("cat forged.shipment | $SHIP receive --into inbox --from - --identity watch")
            .expectFailure(77, words, hint: hint)
        let verified = try await desk.run("verify", "forged.shipment")
        #expect(verified.status == .exited(77) && verified.stdout == "damaged  forged.shipment\n")
        try await desk.shell("cat 1.shipment | $SHIP receive --into inbox --from - --identity watch -q").expectSuccess()
        try change()
        let pipe = "$SHIP send Recipes.sqlite --to - -q --identity nobody | $SHIP receive --into"
        try await desk.shell("\(pipe) other --from - --identity watch -q").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "other", from: "Recipes.sqlite"))
    }

    /// What counts is what the user has typed: a path is a file, whatever lies there.
    @Test func `a named pipe at a path is a file`() async throws {
        try await keep("./unsigned.shipment", as: "nobody")
        let unsigned =
            "nobody has signed this shipment of Recipes, and files are taken only from trusted devices"
        let hint = "make it anew with `ship-store send --to FILE --sign`; --unsigned takes it all the same"
        func receive(_ input: String, _ more: String = "") async throws -> ChildProgram.Outcome {
            try await desk.shell(
                """
                rm -f pipe; mkfifo pipe; cat unsigned.shipment > pipe & feeder=$!
                status=0; $SHIP receive --into inbox --identity watch \(more) \(input) || status=$?
                kill $feeder 2> /dev/null || true; wait $feeder || true; exit $status
                """)
        }
        for input in ["--from ./pipe", "--from file:pipe"] {
            try await receive(input).expectFailure(77, unsigned, hint: hint)
        }
        #expect(!FileManager.default.fileExists(atPath: desk["inbox/Recipes.sqlite"].string))
        try await receive("--from ./pipe", "--unsigned").expectSuccess()
        // One that is asked for as a stream is one, and says so; and a file stays one.
        let stream = try await receive("--from - < pipe").expectSuccess()
        #expect(stream.stderr.contains("reading the standard input, which is a stream\n"))
        let file = try await desk.shell("$SHIP receive --into inbox --identity watch --from - < unsigned.shipment")
        file.expectFailure(77, unsigned + "; the standard input is a file", hint: hint)
        #expect(file.stderr.contains("reading the standard input, which is a file\n"))
        // A sender signs what it writes to a path.
        try await desk.shell(
            """
            $SHIP send Recipes.sqlite --to ./pipe --identity phone -q & sender=$!
            $SHIP receive --into signed --from ./pipe --identity watch -q; wait $sender
            """
        ).expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "signed", from: "Recipes.sqlite"))
        #expect(try desk.leftovers == [])
    }

    @Test func `a stream that does not say which device it is from does not count for a known one`() async throws {
        try await keep("./1.shipment")
        try await receive("./1.shipment").expectSuccess()
        try change()
        // Far ahead of the phone, which would be locked out.
        try "2000\n".write(toFile: desk["other/counter"].string, atomically: true, encoding: .utf8)
        try PlatformCalls.changeMode(of: desk["other/counter"], to: .ownerReadWrite)
        let pipe =
            "$SHIP send Recipes.sqlite --to - -q --identity other 2>/dev/null | $SHIP receive --into inbox --identity watch --from -"
        let refused = try await desk.shell(pipe)
        refused.expectFailure(
            77, "Recipes comes from a device that is known, and this shipment does not say which device it is from",
            hint: "send it signed, in a file or by way of a publication, or from that device over a network; "
                + "`receive --unsigned` takes it all the same")
        try await desk.shell(pipe + " --unsigned -q").expectSuccess()
        try change()
        try await keep("./2.shipment")
        try await receive("./2.shipment").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        #expect(try await origins() == [["1", phone], ["-", "-"], ["2", phone]])
    }

    private static func crc32(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let value = bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0xEDB8_8320 }
        }
        return withUnsafeBytes(of: (~value).bigEndian) { Array($0) }
    }

    @Test func `--sign makes an identity, and who signed is told, but not the key`() async throws {
        var said = ""
        func run(_ arguments: String...) async throws -> ChildProgram.Outcome {
            let outcome = try await desk.run(arguments)
            said += outcome.stdout + outcome.stderr
            return outcome
        }
        try await run("send", "Recipes.sqlite", "--to", "a.shipment", "--identity", "new", "--sign").expectSuccess()
        let id = try await desk.id(of: "new")
        let verified = try await run("verify", "a.shipment")
        #expect(verified.stdout.hasSuffix("  signed by \(id)\n"))
        #expect(try await run("inspect", "a.shipment").lines.contains("  signed by \(id)"))
        for command in ["verify", "inspect"] {
            let json = try await run(command, "a.shipment", "--json").stdout
            #expect(json.contains(#""signer":"\#(id)""#))
        }
        let received = try await run("receive", "--into", "in", "--from", "a.shipment", "--json", "--identity", "none")
        let signed = try received.events().first { $0["event"] as? String == "signed" }
        #expect(signed?["signer"] as? String == id)
        try await run("send", "Recipes.sqlite", "--to", "127.0.0.1:1", "--sign").expectFailure(
            64, "--sign is for files and standard output", hint: "see `ship-store send --help`")
        let pem = try String(contentsOfFile: desk["new/identity.pem"].string, encoding: .utf8)
        let key = pem.split(separator: "\n").prefix { !$0.contains("END PRIVATE") }.dropFirst()
        #expect(!key.isEmpty)
        for line in key { #expect(!said.contains(line)) }
    }
}
