// modules: StoreFormat ShipProtocol ShipCompression StoreEncoding

import ShipProtocol

/// The bytes are what one side sends: the other side cuts them into frames, and follows them through its dialogue.
///
/// The first byte says who listens (bit 0: the producer), whether the sender sends one way (bit 1), whether the consumer has
/// something of the store's stream (bit 2), and whether what follows is a stream as it stands (bit 7) or frames, each a type, a
/// length in two bytes and a payload, which get their checksums here.
/// The second is the size of the pieces in which it comes.
enum FramesTarget {
    static func run(_ input: [UInt8]) {
        guard input.count > 2 else { return }
        let producerListens = input[0] & 1 != 0
        let sender = Preamble(
            role: producerListens ? .consumer : .producer,
            mode: producerListens || input[0] & 2 == 0 ? .twoWay : .oneWay)
        let stream = input[0] & 0x80 != 0 ? Array(input.dropFirst(2)) : sender.encoded + frames(input.dropFirst(2))
        let (elements, error) = FuzzFrames.elements(of: stream, inPiecesOf: Int(input[1]) + 1)
        let (others, otherError) = FuzzFrames.elements(of: stream, inPiecesOf: stream.count)
        precondition(elements == others && error == otherError, "pieces make a difference")
        if producerListens { produce(elements) } else { consume(elements, goingOn: input[0] & 4 != 0) }
    }

    private static func frames(_ input: ArraySlice<UInt8>) -> [UInt8] {
        var (rest, stream) = (input, [UInt8]())
        while rest.count >= 3 {
            let head = Array(rest.prefix(3))
            rest = rest.dropFirst(3)
            let size = Int(head[1]) << 8 | Int(head[2])
            stream += FuzzFrames.frame(head[0], rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return stream
    }

    /// What has come of a store's stream before.
    private static let earlier: WantedPart? = ContentDigest(bytes: [UInt8](repeating: 7, count: 32)).map {
        WantedPart(0, [.columns, .blocks], after: StreamStart(.columns, position: 100, sha256: $0))
    }

    /// - Parameter goesOn: Whether the first part may go on after what has come before.
    private static func consume(_ elements: [FrameParser.Element], goingOn goesOn: Bool) {
        var dialogue = ConsumerDialogue(taking: CommonEncodings([.columns]))
        var parts = 0
        var open: Int?
        var begun: [Int: Set<PartEncoding>] = [:]
        do {
            var incoming: ReceivingDialogue?
            for element in elements {
                guard var shipment = incoming else {
                    guard case .consider(var shipment)? = try dialogue.receive(element) else { continue }
                    (parts, open, begun) = (shipment.manifest.parts.count, nil, [:])
                    let coming = shipment.manifest.parts.indices.filter { shipment.manifest.parts[$0].size > 0 }
                    try shipment.accept(goesOn ? Answer(parts: coming, goingOnWith: earlier) : .everything)
                    incoming = shipment
                    continue
                }
                defer { if incoming != nil { incoming = shipment } }
                switch try shipment.receive(element) {
                case nil: continue
                case .discard:
                    dialogue.end(of: shipment)
                    incoming = nil
                case .stop: return
                case .open(let part, let encoding, let position):
                    let isFirst = part == 0 && begun[part] == nil && encoding == .columns
                    precondition(
                        position == 0 || goesOn && isFirst && position == 100, "a position that nobody asked for")
                    precondition((0..<parts).contains(part), "a part that there is not")
                    precondition(encoding.suits(part: part), "an encoding that is not for the part")
                    precondition(begun[part, default: []].insert(encoding).inserted, "the same encoding twice")
                    open = part
                case .compare: precondition(begun.isEmpty, "a question about the base when it is too late")
                case .append(_, let isLast):
                    precondition(open != nil, "data of no part")
                    if isLast { open = nil }
                case .install:
                    precondition(open == nil, "the end of a part that is not")
                    let untried = shipment.untried(part: 0)
                    if untried.isEmpty {
                        dialogue.end(of: shipment)
                        incoming = nil
                    } else {
                        _ = try shipment.ask(for: [WantedPart(0, untried)])
                    }
                }
            }
            try dialogue.linkEnded()
        } catch {}
    }

    private static func produce(_ elements: [FrameParser.Element]) {
        var dialogue = ProducerDialogue()
        guard let manifest = Self.manifest else { return }
        do {
            for element in elements {
                let wasGreeted = dialogue.isGreeted
                switch try dialogue.receive(element) {
                case nil where !wasGreeted && dialogue.isGreeted: try dialogue.offered(manifest)
                case nil, .stop, .note, .compare: continue
                case .conclude: try dialogue.offered(manifest)
                case .drop:
                    if dialogue.mayCancel { dialogue.cancelled() }
                    try dialogue.offered(manifest)
                case .giveUp: dialogue.cancelled()
                case .send(let wanted):
                    for part in wanted {
                        precondition(manifest.parts.indices.contains(part.index), "a part that there is not")
                        guard let encoding = part.encodings.first else { preconditionFailure("no encoding") }
                        _ = dialogue.opened(part: part.index, encoding)
                    }
                    precondition(dialogue.sentAll(), "what is wanted may not be sent")
                }
            }
            try dialogue.linkEnded()
        } catch {}
    }

    private static let manifest: Manifest? = {
        guard let name = StoreName("Recipes"), let time = Timestamp("2026-11-20T19:04:05Z"),
            let digest = ContentDigest(bytes: [UInt8](repeating: 7, count: 32))
        else { return nil }
        return Manifest(
            name: name, createdAt: time, producer: Manifest.Software(software: "test", sqlite: "3"),
            store: StoreFacts(
                size: 1024, sha256: digest, pageSize: 512, pageCount: 2, textEncoding: .utf8, applicationID: 0,
                userVersion: 0, schemaSHA256: digest))
    }()
}
