import ShipProtocol
import ShipTransport
import StoreInbox
import StoreInstall
import StoreServing
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// The sessions of the vectors, with the consumer that ships: with files, SQLite and an inbox, over a link in memory.
@Suite struct `A consumer's session` {
    /// Where the vector's consumer holds or wants something else than ours does with an empty inbox, or has no room: these
    /// are walked through by `A dialogue` alone.
    private static let others = Set(
        [
            "blocks_again", "columns_again_or_more", "columns_again_unwanted", "columns_or_blocks", "columns_refused",
            "columns_wanted", "difference_from_another", "difference_from_long", "difference_installed",
            "end_without_wanted_part", "part_before_answer", "passed_over_manifest",
            "passed_over_until_end", "three_second_unchanged", "three_second_wants_nothing", "unwanted_anything",
            "unwanted_encoding", "unwanted_encoding_anew",
            "unwanted_part", "unwanted_store", "wants_absent_encodings", "wants_everything_by_name",
            "wants_external_file_alone", "wants_first_liked", "wants_nothing", "wants_store_alone",
        ].map { "dialogue_\($0)" })

    @Test(arguments: try VectorFile.all(.dialogue).filter { $0["consumer"] != nil && !others.contains($0.name) })
    func `says what its vector says, and ends so`(vector: VectorFile) async throws {
        let scratch = try ScratchFolder()
        let inbox = Inbox(at: scratch.path.appending("inbox"))
        // What it holds has to come first.
        if vector.bytes(labelled: "held") != nil {
            let installed = try #require(try VectorFile.all(.dialogue).first { $0.name == "dialogue_installed" })
            try await expectSession(of: installed, into: inbox)
        }
        try await expectSession(of: vector, into: inbox)
    }

    private func expectSession(of vector: VectorFile, into inbox: Inbox) async throws {
        let script = try Script(vector)
        let takesColumns = script.hello.map { CommonEncodings($0).all.contains(.columns) } ?? true
        let session = ConsumerSession(
            judgement: SenderJudgement(trust: .localPrograms, unsigned: .asCarried),
            installer: try Installer(inbox: inbox, keeping: Retention(count: 3)),
            coordinator: StoreCoordinator(inbox: inbox.root), turns: StoreTurns(), budget: ShipmentBudget(),
            requirements: StoreRequirements(), checking: CheckOptions(), probes: ProbeRun([]),
            codec: takesColumns ? .standard : nil, timeouts: Timeouts(), report: { _ in })
        let link = Link(
            direction: .twoWay, reader: LinkReader(script), writer: LinkWriter(script), peer: .command("a vector"))
        var end = "done"
        do throws(ShipmentError) {
            _ = try await session.run(link, greeting: .atOnce)
        } catch .givenUp(let reason) {
            end = "cancelled \(reason.code)"
        } catch {
            end = "failed \(error.code ?? "")"
        }
        #expect(end == vector["consumer"])
        var said = await script.said
        // Nobody hears the last word to a producer that has left.
        if end.hasPrefix("failed"), script.expected.last?.hasSuffix("of the session") != true {
            #expect(said.popLast() == "REFUSAL \(end.dropFirst("failed ".count)) of the session")
        }
        #expect(said == script.expected)
    }
}

/// Both directions of a link to a producer that follows a vector, and waits for each word of the consumer's in it.
private actor Script: LinkSource, LinkSink {
    /// The vector's greeting.
    nonisolated let hello: Hello?
    /// What the consumer is to say, a word for each frame.
    nonisolated let expected: [String]
    /// What it has said.
    private(set) var said: [String] = []

    /// The producer's bytes, and after how many words of the consumer's they come.
    private var lines: [(words: Int, bytes: [UInt8])] = []
    private var heard = FrameParser()

    /// How long a word is waited for.
    private static let patience = Duration.seconds(5)

    init(_ vector: VectorFile) throws {
        var (parser, words, hello) = (FrameParser(), [String](), Hello?.none)
        for section in vector.sections where section.label != "held" {
            guard section.label == "consumer" else {
                lines.append((words.count, section.bytes))
                continue
            }
            parser.append(section.bytes)
            while let element = try parser.next() {
                if case .frame(.hello(let greeting)) = element { hello = greeting }
                if let word = Self.word(for: element) { words.append(word) }
            }
        }
        (self.hello, expected) = (hello, words)
    }

    /// What matters of a frame.
    private static func word(for element: FrameParser.Element) -> String? {
        switch element {
        case .preamble, .unknownOptionalFrame, .frame(.working): nil
        case .frame(.hello): "HELLO"
        case .frame(.answer(let answer)):
            "ANSWER \(answer.wants.map { "\($0.map { "\($0.part) \($0.encodings ?? [])" })" } ?? "everything")"
        case .frame(.receipt(let receipt)): "RECEIPT \(receipt.name) \(receipt.outcome) \(receipt.sha256)"
        case .frame(.refusal(let reason)): "REFUSAL \(reason.code) of the \(reason.extent)"
        case .frame(let frame): "\(frame.type)"
        }
    }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        guard !lines.isEmpty else { return nil }
        let end = ContinuousClock.now + Self.patience
        while said.count < lines[0].words, .now < end {
            try? await Task.sleep(for: .milliseconds(1))
            if Task.isCancelled { throw .cancelled }
        }
        return lines.removeFirst().bytes
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        do {
            heard.append(bytes)
            while let element = try heard.next() { if let word = Self.word(for: element) { said.append(word) } }
        } catch {
            said.append("\(error)")
        }
    }

    func finish() async throws(LinkError) {}
}
