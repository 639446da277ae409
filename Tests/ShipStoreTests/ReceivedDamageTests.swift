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
    private let shipment: KeptShipment
    private let consumer: Consumer
    private let probe: InboxProbe
    private let before: InboxState
    private let damaged: FilePath

    init() async throws {
        var shipment = try await KeptShipment()
        consumer = try Consumer(inbox: shipment.folder.path.appending("inbox"))
        let receipt = try #require(try await consumer.receive(from: .file(shipment.file)).first)
        try #require(receipt.outcome == .installed)
        probe = InboxProbe(consumer.inbox.root, store: KeptShipment.name)
        before = probe.state
        try #require(before.current == "generations/1-\(receipt.sha256.short)" && before.staged.isEmpty)
        damaged = shipment.folder.path.appending("damaged.shipment")
        try await shipment.change()
        self.shipment = shipment
    }

    /// Bytes of the END that says that there is no other shipment.
    private static let lastEnd = 9

    @Test func `is installed, and more is missed, wherever its last END is cut or damaged`() async throws {
        for place in shipment.bytes.indices.suffix(Self.lastEnd) {
            var turned = shipment.bytes
            turned[place] ^= 0x10
            for bytes in [Array(shipment.bytes[..<place]), turned] {
                #expect(try await problem(bytes, [65, 76]) == "the inbox has changed")
                let current = try #require(try consumer.inbox.current(of: StoreName(suggestedBy: KeptShipment.name)))
                #expect(current.number == 2)
                try current.compareWithManifest()
                #expect(probe.state.staged.isEmpty)
            }
        }
    }

    /// Receives what is no whole shipment.
    ///
    /// - Returns: What is wrong with the outcome, or `nil`.
    private func problem(_ bytes: [UInt8], _ statuses: Set<Int32>) async throws -> String? {
        try Data(bytes).write(to: URL(fileURLWithPath: damaged.string))
        var status: Int32?
        do throws(ShipmentError) {
            _ = try await consumer.receive(from: .file(damaged))
        } catch {
            status = error.commandStatus
        }
        guard let status else { return "taken" }
        guard statuses.contains(status) else { return "\(status)" }
        return probe.state == before ? nil : "the inbox has changed"
    }

    private func expectNextShipmentArrives() async throws {
        let receipt = try #require(try await consumer.receive(from: .file(shipment.file)).first)
        #expect(receipt.outcome == .installed)
        #expect(receipt.generation == 2)
        let current = try #require(try consumer.inbox.current(of: receipt.name))
        try current.compareWithManifest()
        #expect(try StoreContent(of: current.storePath).tables == StoreContent(of: shipment.store).tables)
    }

    /// Each byte of the preamble, of the manifest, of a piece's head and of the end, and a sample of all between.
    private func indexes(in stream: ArraySlice<UInt8>, step: Int) throws -> [Int] {
        let pieces = try StreamElement.all(in: Array(stream)).filter { $0.type == .part || $0.type == .data }
        let head = try #require(pieces.first).range.lowerBound + 64
        let tail = stream.count - 24
        let between = stride(from: head, to: tail, by: Soak.isOn ? 23 : step)
        return Array(0..<head) + Array(between) + Array(tail..<stream.count)
    }

    @Test func `changes nothing wherever it is cut, and the next one arrives`() async throws {
        let stream = shipment.bytes
        var wrong: [String] = []
        for count in try indexes(in: stream.dropLast(Self.lastEnd), step: 257) {
            if let problem = try await problem(Array(stream[..<count]), [65]) {
                wrong.append("\(count) bytes: \(problem)")
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(10))")
        try await expectNextShipmentArrives()
    }

    @Test func `changes nothing whichever bit is turned over, and the next one arrives`() async throws {
        var stream = shipment.bytes
        let elements = try StreamElement.all(in: stream)
        var wrong: [String] = []
        for index in try indexes(in: stream.dropLast(Self.lastEnd), step: 173) {
            let element = try #require(elements.first { $0.range.contains(index) })
            let bit = UInt8(1) << UInt8((index + index / 8) % 8)
            stream[index] ^= bit
            if let problem = try await problem(stream, element.exitStatuses(forDamageAt: index).union([65])) {
                wrong.append("bit \(bit.trailingZeroBitCount) of byte \(index): \(problem)")
            }
            stream[index] ^= bit
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(10))")
        try await expectNextShipmentArrives()
    }
}
