// modules: StoreFormat ShipProtocol ShipCompression

import ShipProtocol

/// The bytes are what one side sends: the other side cuts them into frames, and follows them through its dialogue.
///
/// The first byte says who listens (bit 0: the producer), whether the sender sends one way (bit 1), and whether what follows is
/// a stream as it stands (bit 7) or frames, each a type, a length in two bytes and a payload, which get their checksums here.
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
        if producerListens { produce(elements) } else { consume(elements) }
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

    private static func consume(_ elements: [FrameParser.Element]) {
        var dialogue = ConsumerDialogue(taking: [.plain, .columns])
        var sizes: [Int64] = []
        var done: [Int64] = []
        do {
            for element in elements {
                switch try dialogue.receive(element) {
                case nil, .greet, .discard, .appendRows: continue
                case .consider(let manifest):
                    precondition(sizes.isEmpty, "a second manifest")
                    sizes = manifest.parts.map(\.size)
                    done = sizes.map { _ in 0 }
                    dialogue.accept()
                case .append(let block): append(block, &done, sizes)
                case .startAgain(let block):
                    done[0] = 0
                    append(block, &done, sizes)
                case .install: _ = dialogue.askAgain()
                }
            }
            _ = try dialogue.linkEnded()
        } catch {}
    }

    private static func append(_ block: Block, _ done: inout [Int64], _ sizes: [Int64]) {
        let part = Int(block.part)
        precondition(done.indices.contains(part), "a part that there is not")
        precondition(UInt64(done[part]) == block.offset, "a block out of its place")
        done[part] += Int64(block.decodedSize)
        precondition(done[part] <= sizes[part], "more than the part holds")
    }

    private static func produce(_ elements: [FrameParser.Element]) {
        var dialogue = ProducerDialogue()
        guard let manifest = Self.manifest else { return }
        do {
            for element in elements {
                switch try dialogue.receive(element) {
                case nil, .finish, .stop: continue
                case .offer: dialogue.offered(manifest)
                case .send(let skipped):
                    precondition(skipped.allSatisfy { $0 < manifest.parts.count }, "a part that there is not")
                    dialogue.sentAll(storeAs: .columns)
                case .sendStoreAgain: dialogue.sentAll(storeAs: .plain)
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
