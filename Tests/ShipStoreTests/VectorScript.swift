import ShipProtocol
import ShipTransport
import TestSupport

@testable import ShipStore

/// Both directions of a link to a peer that follows a vector, and waits for each word of the tested side in it.
actor VectorScript: LinkReader, LinkWriter {
    /// The vector's greeting.
    nonisolated let hello: Hello?
    /// How far streams have come, by the encoding, as the vector's consumer says first.
    nonisolated let positions: [PartEncoding: Int64]
    /// What the side is to say, a word for each frame.
    nonisolated let expected: [String]
    /// What it has said.
    private(set) var said: [String] = []
    /// Whether it has ended its direction.
    private(set) var isFinished = false

    /// The other side's bytes, and after how many words they come.
    private var lines: [(words: Int, bytes: [UInt8])] = []
    private var heard: FrameParser
    /// What the other side has said: answers refer to it.
    private var spoken: FrameParser

    /// How long a word is waited for.
    private static let patience = Duration.seconds(5)

    /// - Parameter side: The one that is tested: `producer` or `consumer`.
    init(_ vector: ProtocolVector, testing side: String) throws {
        var (parser, words, hello) = (FrameParser(), [String](), Hello?.none)
        var positions: [PartEncoding: Int64] = [:]
        for section in vector.sections where ["held", "unfinished"].contains(section.label) {
            _ = parser.held.hold(ManifestContent(json: section.bytes))
        }
        for case .frame(.manifest(let manifest)) in Self.elements(of: "producer", in: vector, parser) {
            // What the consumer says that it waits for may be this.
            _ = parser.held.hold(ManifestContent(of: manifest))
        }
        (heard, spoken) = (parser, parser)
        var other = parser
        for section in vector.sections
        where !["held", "base", "file"].contains(section.label) && !WaitingShipment.labels.contains(section.label) {
            guard section.label == side else {
                lines.append((words.count, section.bytes))
                parser.answer(&other, section.bytes)
                continue
            }
            parser.append(section.bytes)
            while let element = try parser.next() {
                if case .frame(.hello(let greeting)) = element { hello = greeting }
                if case .frame(.answer(let answer)) = element {
                    for start in (answer.wants ?? []).compactMap(\.from) {
                        guard let encoding = PartEncoding.allCases.first(where: { $0.name == start.encoding }) else {
                            continue
                        }
                        positions[encoding] = positions[encoding] ?? start.position
                    }
                }
                if let word = Self.word(for: element) { words.append(word) }
            }
        }
        (self.hello, self.positions, expected) = (hello, positions, words)
    }

    private static func elements(
        of side: String, in vector: ProtocolVector, _ parser: FrameParser
    ) -> [FrameParser.Element] {
        var (parser, elements) = (parser, [FrameParser.Element]())
        for section in vector.sections where section.label == side {
            parser.append(section.bytes)
            while let element = try? parser.next() {
                elements.append(element)
                if case .frame(.manifest(let manifest)) = element { parser.held.install(manifest) }
            }
        }
        return elements
    }

    /// Those that it names; where it goes on, it may name all of them as well.
    private static func encodings(of want: Answer.PartRequest) -> [ForeignText] {
        want.from == nil ? want.encodings ?? [] : []
    }

    /// What matters of a frame.
    private static func word(for element: FrameParser.Element) -> String? {
        switch element {
        case .preamble, .unknownOptionalFrame, .frame(.working), .frame(.stay), .frame(.askable), .frame(.question),
            .frame(.newest):
            nil
        case .frame(.hello): "HELLO"
        case .frame(.answer(let answer)):
            "ANSWER \(answer.wants.map { "\($0.map { "\($0.part) \(Self.encodings(of: $0))\($0.base.map { " over \($0.short)" } ?? "")\($0.from.map { " from \($0.position) of \($0.encoding)" } ?? "")" })" } ?? "everything")"
        case .frame(.receipt(let receipt)): "RECEIPT \(receipt.name) \(receipt.outcome) \(receipt.sha256)"
        case .frame(.refusal(let reason)): "REFUSAL \(reason.code) of the \(reason.scope)"
        case .frame(.manifest(let manifest)): "MANIFEST \(manifest.name) \(manifest.store.sha256)"
        case .frame(.part(let opening)):
            "PART \(opening.part) \(opening.encoding)\(opening.isAnew ? " anew" : "")\(opening.position > 0 ? " from \(opening.position)" : "")"
        // How they are cut is the producer's affair.
        case .frame(.data): nil
        case .frame(.cancel(let reason)): "CANCEL \(reason.code) of the \(reason.scope)"
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
        let bytes = lines.removeFirst().bytes
        heard.answer(&spoken, bytes)
        return bytes
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        do {
            heard.append(bytes)
            while let element = try heard.next() { if let word = Self.word(for: element) { said.append(word) } }
        } catch {
            said.append("\(error)")
        }
    }

    func finish() async throws(LinkError) { isFinished = true }
}

extension FrameParser {
    /// What this reads answers what comes from the other side.
    ///
    /// - Parameter other: Reads that side's bytes, as far as they can be read.
    mutating func answer(_ other: inout FrameParser, _ bytes: [UInt8]) {
        other.append(bytes)
        while (try? other.next()) != nil {}
        if !other.offer.isEmpty { offer = other.offer }
    }
}
