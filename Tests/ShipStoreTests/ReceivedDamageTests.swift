import Foundation
import ShipProtocol
import ShipStoreNetwork
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Streams that were cut or damaged, received into an inbox that has a generation already.
@Suite struct `A damaged shipment that is received` {
    /// Bytes of the END that says that there is no other shipment.
    private static let lastEnd = 9

    @Test(arguments: KeptShipment.Form.allCases)
    func `is installed, and more is missed, wherever its last END is cut or damaged`(form: KeptShipment.Form)
        async throws
    {
        let receiver = try await Receiver(of: form)
        let (shipment, inbox) = (receiver.shipment, receiver.shipment.consumer.inbox)
        for place in shipment.bytes.indices.suffix(Self.lastEnd) {
            var turned = shipment.bytes
            turned[place] ^= 0x10
            for bytes in [Array(shipment.bytes[..<place]), turned] {
                #expect(try await receiver.problem(bytes, [65, 76]) == "the inbox has changed")
                let current = try #require(try inbox.current(of: shipment.base.manifest.name))
                #expect(current.number == 2)
                try current.compareWithManifest()
                #expect(receiver.probe.state.staged.isEmpty)
            }
        }
    }

    /// Each byte of the preamble, of the manifest, of a piece's head and of the end, and a sample of all between; of a delta a short run
    /// takes one of six of these.
    private func indexes(in shipment: KeptShipment, _ form: KeptShipment.Form, step: Int) throws -> [Int] {
        let stream = shipment.bytes.dropLast(Self.lastEnd)
        let pieces = try StreamElement.all(in: Array(stream)).filter { $0.type == .part || $0.type == .data }
        let head = try #require(pieces.first).range.lowerBound + 64
        let tail = stream.count - 24
        let between = stride(from: head, to: tail, by: Soak.isOn ? 23 : step)
        let indexes = Array(0..<head) + Array(between) + Array(tail..<stream.count)
        return form == .whole ? indexes : Soak.sample(indexes, oneOf: 6)
    }

    @Test(arguments: KeptShipment.Form.allCases)
    func `changes nothing wherever it is cut, and the next one arrives`(form: KeptShipment.Form) async throws {
        let receiver = try await Receiver(of: form)
        let stream = receiver.shipment.bytes
        var wrong: [String] = []
        for count in try indexes(in: receiver.shipment, form, step: 257) {
            if let problem = try await receiver.problem(Array(stream[..<count]), [65]) {
                wrong.append("\(count) bytes: \(problem)")
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(10))")
        try await receiver.expectNextShipmentArrives()
    }

    @Test(arguments: KeptShipment.Form.allCases)
    func `changes nothing whichever bit is turned over, and the next one arrives`(form: KeptShipment.Form) async throws
    {
        let receiver = try await Receiver(of: form)
        var stream = receiver.shipment.bytes
        let elements = try StreamElement.all(in: stream)
        var wrong: [String] = []
        for index in try indexes(in: receiver.shipment, form, step: 173) {
            let element = try #require(elements.first { $0.range.contains(index) })
            let bit = UInt8(1) << UInt8((index + index / 8) % 8)
            stream[index] ^= bit
            if let problem = try await receiver.problem(stream, element.exitStatuses(forDamageAt: index).union([65])) {
                wrong.append("bit \(bit.trailingZeroBitCount) of byte \(index): \(problem)")
            }
            stream[index] ^= bit
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(10))")
        try await receiver.expectNextShipmentArrives()
    }
}

/// An inbox with the earlier state, and what is received into it.
private struct Receiver {
    let shipment: KeptShipment
    let probe: InboxProbe
    private let before: InboxState
    private let damaged: FilePath

    init(of form: KeptShipment.Form) async throws {
        shipment = try await KeptShipment(form)
        probe = InboxProbe(shipment.consumer.inbox.root, store: KeptShipment.name)
        before = probe.state
        let digest = shipment.base.manifest.store.sha256
        try #require(before.current == "generations/1-\(digest.short)" && before.staged.isEmpty)
        damaged = shipment.folder.path.appending("damaged.shipment")
    }

    /// Receives what is no whole shipment.
    ///
    /// - Returns: What is wrong with the outcome, or `nil`.
    func problem(_ bytes: [UInt8], _ statuses: Set<Int32>) async throws -> String? {
        try Data(bytes).write(to: URL(fileURLWithPath: damaged.string))
        var status: Int32?
        do throws(ShipmentError) {
            _ = try await shipment.consumer.receive(from: .file(damaged))
        } catch {
            status = error.commandStatus
        }
        guard let status else { return "taken" }
        guard statuses.contains(status) else { return "\(status)" }
        return probe.state == before ? nil : "the inbox has changed"
    }

    func expectNextShipmentArrives() async throws {
        try shipment.base.compareWithManifest()
        let receipt = try #require(try await shipment.consumer.receive(from: .file(shipment.file)).first)
        #expect(receipt.outcome == .installed)
        #expect(receipt.generation == 2)
        let current = try #require(try shipment.consumer.inbox.current(of: receipt.name))
        try current.compareWithManifest()
        #expect(try StoreContent(of: current.storePath).tables == StoreContent(of: shipment.store).tables)
    }
}
