import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// The same of what a side says that is not ours, over a link that goes both ways.
@Suite struct `Nothing that the other side says is printed raw` {
    private let desk: Desk
    private let seed: UInt64

    init() throws {
        desk = try Desk()
        try desk.makeStore()
        seed = Soak.isOn ? UInt64.random(in: 0...UInt64.max) : 14
    }

    private static let digest = String(repeating: "0", count: 64)
    private static let hello = """
        {"software":"s","encodings":["columns","e"],
         "holds":[{"name":"Recipes","manifest":"\(digest.prefix(32))"}]}
        """
    private static let answer = #"{"wants":[{"part":0,"encodings":["blocks"]}]}"#
    private static let receipt = #"{"name":"Recipes","generation":1,"sha256":"\#(digest)","outcome":"installed"}"#
    private static let word = #"{"code":"busy","message":"later","ends":"session"}"#

    /// Each message with a text in each of its places, in turn.
    private func variants(
        of json: String, _ type: FrameType, _ texts: inout HostileText
    ) throws -> [(frame: [UInt8], about: String)] {
        let places = try JSONPlaces(Array(json.utf8))
        return try places.paths.map { path in
            let text = texts.next()
            let payload = try places.document(with: text, at: path)
            return (RawStream.frame(type, json: payload), "\(type) with \(path) \(text.debugDescription)")
        }
    }

    private func send(
        to answer: [UInt8], _ about: String, _ options: [String] = [], of store: String = "Recipes.sqlite"
    ) async throws {
        let (listener, port) = try RawSocket.listening()
        let sending = Task {
            try await desk.run(["send", store, "--to", "127.0.0.1:\(port)", "--hello-timeout", "5"] + options)
        }
        let peer = try listener.accepted()
        try? peer.write(answer)
        peer.endWriting()
        let outcome = try await sending.value
        outcome.expectPlain("\(about), seed \(seed)")
        #expect(outcome.status != .exited(0), "\(about)")
    }

    @Test func `by a receiver`() async throws {
        var texts = HostileText(seed: seed)
        let preamble = Preamble(role: .consumer, mode: .twoWay).encoded
        let greeting = preamble + RawStream.frame(.hello, json: Array(Self.hello.utf8))
        var answers = try variants(of: Self.hello, .hello, &texts).map { (preamble + $0.frame, $0.about) }
        answers += try variants(of: Self.answer, .answer, &texts).map { (greeting + $0.frame, $0.about) }
        answers += try variants(of: Self.receipt, .receipt, &texts).map { (greeting + $0.frame, $0.about) }
        answers += try variants(of: Self.word, .refusal, &texts).flatMap { variant in
            [(preamble + variant.frame, variant.about), (greeting + variant.frame, variant.about + " after HELLO")]
        }
        answers.append((Array(texts.next().utf8), "what is no preamble"))
        answers.append((greeting + RawStream.frame(0x33, Array(texts.next().utf8)), "an unknown frame"))
        for (index, answer) in answers.enumerated() {
            try await send(to: answer.0, answer.1, index % 2 == 0 ? [] : ["--json"])
        }
    }

    /// What a receiver refuses it says in words of its own; here they are somebody else's.
    @Test func `as a refusal, with each code that there is`() async throws {
        var texts = HostileText(seed: seed &+ 1)
        let preamble = Preamble(role: .consumer, mode: .twoWay).encoded
        for code in RefusalCode.allCases.map(\.rawValue) + ["full-moon", texts.next()] {
            let payload = try JSONSerialization.data(withJSONObject: ["code": code, "message": texts.next()])
            try await send(to: preamble + RawStream.frame(.refusal, json: Array(payload)), code.debugDescription)
        }
    }

    @Test func `by a sender`() async throws {
        var texts = HostileText(seed: seed &+ 2)
        let twoWay = Preamble(role: .producer, mode: .twoWay).encoded
        let oneWay = Preamble(role: .producer, mode: .oneWay).encoded
        var streams = try variants(of: Self.word, .cancel, &texts).flatMap { variant in
            [(twoWay + variant.frame, variant.about), (oneWay + variant.frame, variant.about + ", one way")]
        }
        let certificate = [UInt8](repeating: 7, count: 64) + Array(texts.next().utf8)
        streams.append((oneWay + RawStream.frame(FrameType.signature.rawValue, certificate), "a signature"))
        let manifest = RawStream.frame(.manifest, json: Array(#"{"requires":["\#u{1B}[2J"]}"#.utf8))
        streams.append((oneWay + manifest, "a manifest that is no JSON"))
        let required = try JSONSerialization.data(withJSONObject: ["requires": [texts.next()]])
        streams.append((twoWay + RawStream.frame(.manifest, json: Array(required)), "a feature"))
        streams.append((Array(texts.next().utf8), "what is no preamble"))
        for options in [[], ["--json"]] {
            let receiver = try BuiltProgram.start(
                ["receive", "--into", "inbox", "--listen", "127.0.0.1:0", "--hello-timeout", "5"] + options,
                in: desk.path)
            let line = try await receiver.waitForLine(containing: "listening on ")
            let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
            for (bytes, _) in streams { try await RawSocket.exchange(bytes, with: port) }
            receiver.signal(SIGTERM)
            let outcome = try await receiver.wait(timeout: .seconds(20))
            outcome.expectPlain("\(streams.map(\.1)), seed \(seed)")
            #expect(
                outcome.stderr.split(separator: "\n").filter { $0.contains("] not installed") }.count >= streams.count
                    - 1)
        }
        for (bytes, about) in streams {
            // Standard output is the way back to the sender.
            let outcome = try await desk.run("receive", "--into", "other", "--from", "-", input: .bytes(bytes))
            outcome.expectPlain(about, in: ["stderr": outcome.stderr])
        }
    }

    @Test func `while devices pair`() async throws {
        var texts = HostileText(seed: seed &+ 3)
        try await send(to: Array(texts.next().utf8), "no TLS", ["--pair", "123-456"])
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--pair")
        for _ in 0..<3 { try await RawSocket.exchange(Array(texts.next().utf8), with: receiver.port) }
        try await receiver.stop().expectPlain("no TLS")
    }
}
