import ShipProtocol
import TestSupport
import Testing

@testable import ShipStore

/// Whole sessions, turn by turn: the side that is tested reads what the other one sends, and is told what it has sent itself.
@Suite struct `A dialogue` {
    private static let sides = ["producer", "consumer"]

    @Test(arguments: try VectorFile.all(.dialogue))
    func `ends as its vector says`(vector: VectorFile) throws {
        #expect(vector["producer"] != nil || vector["consumer"] != nil)
        if let end = vector["producer"] { #expect(try ProducerWalk(vector).end == end) }
        if let end = vector["consumer"] {
            let walk = try ConsumerWalk(vector)
            #expect(walk.end == end)
            if !vector.all("part").isEmpty { #expect(walk.consumer.partLines == vector.all("part")) }
        }
    }
}

/// What one side sends in a vector.
private struct OwnFrames {
    private var parser = FrameParser()

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

    init(_ vector: VectorFile) throws {
        var greeting = OwnFrames()
        for section in vector.sections where section.label == "consumer" {
            for case .hello(let hello) in try greeting.take(section.bytes) {
                consumer = MemoryConsumer(taking: hello.storeForms)
            }
        }
        for section in vector.sections {
            if section.label == "consumer" {
                for frame in try own.take(section.bytes) { sent(frame, vector) }
            } else if end == nil {
                session { consumer throws(ShipmentError) in try consumer.receive(section.bytes) }
            }
        }
        if end == nil { session { consumer throws(ShipmentError) in try consumer.linkEnded() } }
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

    private mutating func sent(_ frame: Frame, _ vector: VectorFile) {
        switch frame {
        case .accept(let acceptance) where acceptance.asksAgain: #expect(consumer.askAgain() == acceptance)
        case .accept(let acceptance): consumer.accept(skipping: acceptance.skippedParts)
        case .receipt(let receipt):
            #expect(receipt.outcome.rawValue == vector["outcome"])
            #expect(consumer.isInstalled == (receipt.outcome == .installed))
            end = "done"
        case .refusal(let reason): #expect(end == "failed \(reason.code)")
        case .hello, .working: break
        case .manifest, .block, .columns, .signature, .end, .cancel:
            Issue.record("a consumer does not send \(frame.type)")
        }
    }
}

/// A vector with the producer's eyes.
private struct ProducerWalk {
    private(set) var end: String?
    private var dialogue = ProducerDialogue()
    private var parser = FrameParser()
    private var own = OwnFrames()
    private var mayOffer = false
    private var maySend = false
    private var mayBeRows = false
    /// How the store goes.
    private var form = StoreForm.plain

    init(_ vector: VectorFile) throws {
        for section in vector.sections {
            if section.label == "producer" {
                for frame in try own.take(section.bytes) { sent(frame) }
            } else if end == nil {
                receive(section.bytes, vector)
            }
        }
        guard end == nil else { return }
        do throws(ProtocolError) {
            try parser.finish()
            try dialogue.linkEnded()
        } catch {
            end = "failed \(error.code.rawValue)"
        }
    }

    private mutating func receive(_ bytes: [UInt8], _ vector: VectorFile) {
        do throws(ProtocolError) {
            parser.append(bytes)
            while let element = try parser.next() {
                switch try dialogue.receive(element) {
                case nil: break
                case .offer(let hello): (mayOffer, mayBeRows) = (true, hello.storeForms.contains(.columns))
                case .send: (maySend, form) = (true, .plain)
                case .sendStoreAgain: (maySend, form) = (true, .plain)
                case .finish(let receipt):
                    #expect(receipt.outcome.rawValue == vector["outcome"])
                    end = "done"
                case .stop(let reason): end = "refused \(reason.code)"
                }
            }
        } catch {
            end = "failed \(error.code.rawValue)"
        }
    }

    private mutating func sent(_ frame: Frame) {
        switch frame {
        case .manifest(let manifest):
            #expect(mayOffer)
            dialogue.offered(manifest)
        case .block(let block):
            #expect(maySend)
            if block.part == 0 { form = .plain }
        case .columns:
            #expect(maySend && mayBeRows)
            form = .columns
        case .end:
            #expect(maySend)
            dialogue.sentAll(storeAs: form)
            maySend = false
        case .cancel(let reason): #expect(end == "failed \(reason.code)")
        case .signature, .working: break
        case .hello, .accept, .receipt, .refusal: Issue.record("a producer does not send \(frame.type)")
        }
    }
}
