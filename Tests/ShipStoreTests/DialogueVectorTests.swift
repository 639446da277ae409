import ShipProtocol
import TestSupport
import Testing

@testable import ShipStore

/// Whole sessions, turn by turn: the side that is tested reads what the other one sends, and is told what it has sent itself.
@Suite struct `A dialogue` {
    @Test(arguments: try ProtocolVector.all(.dialogue))
    func `ends as its vector says`(vector: ProtocolVector) throws {
        #expect(vector["producer"] != nil || vector["consumer"] != nil)
        if let end = vector["producer"] {
            let walk = try ProducerWalk(vector)
            #expect(walk.end == end)
            #expect(walk.lines == vector.all("shipment"))
        }
        if let end = vector["consumer"] {
            let walk = try ConsumerWalk(vector)
            #expect(walk.end == end)
            #expect(walk.consumer.lines == vector.shipmentLines)
        }
    }
}

/// What one side sends in a vector.
private struct OwnFrames {
    private var parser = FrameParser()

    /// What was offered last.
    var offer: [ManifestContent] {
        get { parser.offer }
        set { parser.offer = newValue }
    }

    /// The other side holds this.
    mutating func hold(_ content: ManifestContent) { _ = parser.held.hold(content) }

    /// The other side has installed this.
    mutating func install(_ manifest: Manifest) { parser.held.install(manifest) }

    /// To which content the last manifest refers.
    var base: ManifestContent.ID? { parser.base }

    mutating func take(_ bytes: [UInt8]) throws -> [Frame] {
        parser.append(bytes)
        var frames: [Frame] = []
        while let element = try parser.next() { if case .frame(let frame) = element { frames.append(frame) } }
        return frames
    }
}

/// A vector with the consumer's eyes.
private struct ConsumerWalk {
    private(set) var consumer = MemoryConsumer()
    private(set) var end: String?
    private var own = OwnFrames()

    init(_ vector: ProtocolVector) throws {
        var greeting = OwnFrames()
        for section in vector.sections where section.label == "consumer" {
            for case .hello(let hello) in (try? greeting.take(section.bytes)) ?? [] {
                consumer = MemoryConsumer(taking: CommonEncodings(hello), signatures: hello.knownSignatures)
            }
        }
        for waiting in try WaitingShipment.all(in: vector) {
            consumer.hold(waiting.content)
            waiting.streams.forEach { consumer.hold($0) }
        }
        for section in vector.sections {
            if section.label == "held" {
                consumer.hold(ManifestContent(json: section.bytes))
            } else if section.label == "base" {
                consumer.hold(section.bytes)
            } else if section.label == "file" {
                consumer.hold(file: section.bytes)
            } else if WaitingShipment.labels.contains(section.label) {
                continue
            } else if section.label == "consumer" {
                own.offer = consumer.offer
                for frame in try own.take(section.bytes) { try sent(frame) }
            } else if end == nil {
                session { consumer throws(ShipmentError) in try consumer.receive(section.bytes) }
            }
        }
        guard end == nil else { return }
        session { consumer throws(ShipmentError) in try consumer.linkEnded() }
        if end == nil { end = "done" }
    }

    private mutating func session(_ step: (inout MemoryConsumer) throws(ShipmentError) -> Void) {
        do throws(ShipmentError) {
            try step(&consumer)
        } catch {
            if case .givenUp(let reason) = error {
                end = "cancelled \(reason.code)"
                #expect(error.refusal == nil)
            } else {
                end = "failed \(error.refusal?.code ?? "")"
            }
        }
    }

    private mutating func sent(_ frame: Frame) throws {
        switch frame {
        case .answer(let answer):
            let fits = try consumer.sent(answer)
            #expect(fits)
        case .receipt(let receipt):
            let fits = consumer.sent(receipt)
            #expect(fits)
        case .refusal(let reason) where reason.scope == .session: #expect(end == "failed \(reason.code)")
        case .refusal(let reason):
            if let known = consumer.takeRefusal() {
                #expect(known.code == reason.code.unescaped)
            } else {
                consumer.sent(refusal: reason)
            }
        case .hello(let hello): consumer.sent(hello)
        case .working, .question, .ranges: break
        case .manifest, .part, .data, .signature, .end, .cancel, .stay, .askable, .newest, .compare:
            Issue.record("a consumer does not send \(frame.type)")
        }
    }
}

/// A vector with the producer's eyes.
private struct ProducerWalk {
    private(set) var end: String?
    /// What became of each shipment.
    private(set) var lines: [String] = []
    private var greeting = ProducerDialogue()
    /// `greeting`, from the consumer's greeting on.
    private var dialogue: ProducerDialogue?
    private var parser = FrameParser()
    private var own = OwnFrames()
    private var manifest: Manifest?
    private var name: String { manifest.map { "\($0.name)" } ?? "" }
    /// The contents of manifests that were sent.
    private var contents: [ManifestContent] = []
    private var wanted: [WantedPart] = []
    /// Whether CANCEL is due, and with which code.
    private var due: String?
    /// With which code CANCEL has been sent.
    private var cancelled: ForeignText?
    private var hasOffered = false

    init(_ vector: ProtocolVector) throws {
        for section in vector.sections {
            if section.label == "held" {
                own.hold(ManifestContent(json: section.bytes))
            } else if section.label == "unfinished" {
                own.hold(ManifestContent(json: section.bytes))
            } else if ["base", "file"].contains(section.label) || WaitingShipment.labels.contains(section.label) {
                continue
            } else if section.label == "producer" {
                for frame in try own.take(section.bytes) { try sent(frame) }
                parser.offer = own.offer
            } else if end == nil {
                receive(section.bytes)
            }
        }
        guard end == nil else { return }
        do throws(ProtocolError) {
            try parser.finish()
            guard dialogue != nil else { throw .truncated }
            try dialogue?.linkEnded()
            end = "done"
        } catch {
            end = "failed \(error.code.rawValue)"
        }
    }

    private mutating func receive(_ bytes: [UInt8]) {
        do throws(ProtocolError) {
            parser.append(bytes)
            while let element = try parser.next() {
                guard dialogue != nil else {
                    if case .stop(let reason) = try greeting.receive(element) {
                        end = "refused \(reason.code)"
                        return
                    }
                    if greeting.isGreeted { dialogue = greeting }
                    continue
                }
                switch try dialogue?.receive(element) {
                case nil: break
                case .send(let parts): wanted = parts
                case .note, .compare: break
                case .giveUp(let error): due = error.code.rawValue
                case .conclude(let receipt):
                    lines.append("\(name) \(receipt.outcome.rawValue)")
                    if receipt.outcome == .installed, let manifest { own.install(manifest) }
                case .drop(let reason):
                    lines.append(cancelled.map { "\(name) cancelled \($0)" } ?? "\(name) refused \(reason.code)")
                    if dialogue?.mayCancel == true { due = reason.code.unescaped }
                case .stop(let reason):
                    end = "refused \(reason.code)"
                    return
                }
            }
        } catch {
            end = "failed \(error.code.rawValue)"
        }
    }

    private func isOfSameStore(_ manifest: Manifest) -> Bool { manifest.name == self.manifest?.name }

    private mutating func sent(_ frame: Frame) throws {
        switch frame {
        case .manifest(let manifest):
            if let base = own.base, let sent = contents.first(where: { $0.id == base }), isOfSameStore(manifest) {
                #expect(dialogue?.base(of: manifest, remembering: [sent]) == sent)
            }
            try dialogue?.offered(manifest)
            (self.manifest, cancelled, hasOffered) = (manifest, nil, true)
            contents.append(ManifestContent(of: manifest))
        case .part(let opening):
            let encoding = try #require(PartEncoding(rawValue: opening.encoding))
            #expect(wanted.contains { $0.index == Int(opening.part) && $0.encodings.contains(encoding) })
            let isAnew = dialogue?.opened(part: Int(opening.part), encoding)
            #expect(isAnew == opening.isAnew)
        case .compare: #expect(dialogue?.asksAboutBase() == true)
        case .data: #expect(dialogue?.maySend == true)
        case .end where dialogue?.isAwaiting == false && dialogue?.mayCancelSession == true:
            #expect(hasOffered)
            dialogue?.finished()
        case .end:
            let mayEnd = dialogue?.sentAll()
            #expect(mayEnd == true)
        case .cancel(let reason) where reason.scope == .shipment:
            #expect(dialogue?.mayCancel == true)
            if dialogue?.isAwaiting == true { cancelled = reason.code }
            if let due { #expect(reason.code.unescaped == due) }
            due = nil
            dialogue?.cancelled()
        case .cancel(let reason): #expect(end == "failed \(reason.code)" || dialogue?.mayCancelSession != false)
        case .stay(let stay): #expect(dialogue?.stay(every: .seconds(stay.interval)) == stay)
        case .askable: #expect(dialogue?.answersQuestions() == true)
        case .signature, .working, .newest: break
        case .hello, .answer, .receipt, .refusal, .question, .ranges:
            Issue.record("a producer does not send \(frame.type)")
        }
    }
}
