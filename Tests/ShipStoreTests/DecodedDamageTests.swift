import Foundation
import ShipProtocol
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Streams that were cut or damaged, decoded in memory.
@Suite struct `A damaged stream that is decoded` {
    /// An element of the clean stream, and the consumer as it is before it.
    private struct Checkpoint {
        let element: StreamElement
        let consumer: MemoryConsumer
    }

    private static func checkpoints(_ shipment: KeptShipment) throws -> [Checkpoint] {
        let stream = shipment.bytes
        var consumer = MemoryConsumer()
        consumer.hold(shipment.base.manifest, from: nil)
        consumer.hold(Array(try Data(contentsOf: URL(fileURLWithPath: shipment.base.storePath.string))))
        var checkpoints: [Checkpoint] = []
        for element in try StreamElement.all(in: stream) {
            checkpoints.append(Checkpoint(element: element, consumer: consumer))
            try consumer.receive(Array(stream[element.range]))
        }
        try consumer.linkEnded()
        try #require(consumer.isInstalled)
        return checkpoints
    }

    /// - Parameters:
    ///   - element: What comes from the checkpoint on.
    ///   - rest: What comes after it, where it is not refused at once.
    /// - Returns: `nil` if it comes to a whole shipment.
    private func failure(_ checkpoint: Checkpoint, _ element: [UInt8], _ rest: [UInt8] = []) -> ShipmentError? {
        var consumer = checkpoint.consumer
        do throws(ShipmentError) {
            try consumer.receive(element)
            try consumer.receive(rest)
            try consumer.linkEnded()
            return consumer.refusals.first
        } catch {
            return error
        }
    }

    @Test(arguments: KeptShipment.Form.allCases)
    func `ends early wherever it is cut`(form: KeptShipment.Form) async throws {
        let shipment = try await KeptShipment(form)
        let stream = shipment.bytes
        var wrong: [Int] = []
        for checkpoint in try Self.checkpoints(shipment) {
            for end in checkpoint.element.range {
                let failure = failure(checkpoint, Array(stream[checkpoint.element.range.lowerBound..<end]))
                // Between its two ENDs.
                let isWithoutEnd = end == stream.count - 9
                if failure != .protocolBroken(isWithoutEnd ? .noEnd : .truncated) { wrong.append(end) }
            }
        }
        #expect(wrong.isEmpty, "cut after so many bytes: \(wrong.prefix(10))")
        #expect(ShipmentError.protocolBroken(.truncated).commandStatus == 76)
    }

    /// Of how many bytes of an element a short run damages one.
    private static func step(in element: Range<Int>, of form: KeptShipment.Form, whole: Int) -> Int {
        form == .whole ? whole : 1 + element.count / 256
    }

    @Test(arguments: KeptShipment.Form.allCases)
    func `is refused whichever bit is turned over`(form: KeptShipment.Form) async throws {
        let shipment = try await KeptShipment(form)
        let stream = shipment.bytes
        var (wrong, count) = ([String](), 0)
        for checkpoint in try Self.checkpoints(shipment) {
            let range = checkpoint.element.range
            var element = Array(stream[range])
            let rest = Array(stream[range.upperBound...])
            for index in Soak.sample(range, oneOf: Self.step(in: range, of: form, whole: 2)) {
                let statuses = checkpoint.element.exitStatuses(forDamageAt: index)
                for bit in 0..<8 {
                    element[index - range.lowerBound] ^= 1 << bit
                    defer { element[index - range.lowerBound] ^= 1 << bit }
                    count += 1
                    let status = failure(checkpoint, element, rest)?.commandStatus
                    if let status, statuses.contains(status) { continue }
                    wrong.append("bit \(bit) of byte \(index): \(status.map { "\($0)" } ?? "taken")")
                }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) of \(count): \(wrong.prefix(10))")
        #expect(count == 8 * stream.count || !Soak.isOn)
    }

    /// The checksums of frames find what happens on the way. Behind them stand the order of blocks, zlib, and SHA-256.
    @Test(arguments: KeptShipment.Form.allCases)
    func `never comes to other content although its checksums are right`(form: KeptShipment.Form) async throws {
        let shipment = try await KeptShipment(form)
        let stream = shipment.bytes
        var (wrong, harmless) = ([String](), 0)
        for checkpoint in try Self.checkpoints(shipment) where checkpoint.element.type != nil {
            let range = checkpoint.element.range
            var element = Array(stream[range])
            let rest = Array(stream[range.upperBound...])
            let payload = FrameHeader.size..<range.count - 4
            // What says where a piece belongs.
            let fieldSizes: [FrameType: Int] = [.part: 14, .data: PartData.headerSize + Block.headerSize]
            let fields = payload.prefix(checkpoint.element.type.flatMap { fieldSizes[$0] } ?? 0)
            let step = Self.step(in: range, of: form, whole: 23)
            for offset in Array(fields) + Soak.sample(fields.endIndex..<payload.endIndex, oneOf: step) {
                for bit in Soak.isOn || offset < fields.endIndex ? Array(0..<8) : [offset % 8] {
                    element[offset] ^= 1 << bit
                    defer { element[offset] ^= 1 << bit }
                    Self.repairChecksum(of: &element)
                    let failure = failure(checkpoint, element, rest)
                    if failure == nil, checkpoint.element.type != .manifest { harmless += 1 }
                    let isAsItShould: Bool =
                        switch failure?.commandStatus {
                        // Words of the manifest that are no digest and no size, and bits of deflate that mean nothing.
                        case nil: offset >= fields.endIndex
                        case 65: true
                        // The name of the store, or the base.
                        case 72: checkpoint.element.type == .manifest && form == .delta
                        case 76: offset < fields.endIndex || checkpoint.element.type == .manifest
                        default: false
                        }
                    if !isAsItShould {
                        wrong.append(
                            "bit \(bit) of byte \(range.lowerBound + offset): \(failure.map { "\($0)" } ?? "taken")")
                    }
                }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(10))")
        // The bits of deflate that mean nothing are few: mostly those that fill a last byte.
        #expect(harmless < (Soak.isOn ? 200 : 20))
    }

    private static func repairChecksum(of frame: inout [UInt8]) {
        frame.removeLast(4)
        frame.append(bigEndian: UInt32(crc32Of: frame))
    }
}
