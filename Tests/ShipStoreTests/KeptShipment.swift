import Foundation
import ShipProtocol
import ShipStoreNetwork
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// A Core Data store with an external file, an inbox that holds an earlier state of it, and the shipment of it that was kept in a file.
struct KeptShipment {
    enum Form: CaseIterable {
        case whole
        /// What is new since the earlier state.
        case delta
    }

    let folder: ScratchFolder
    let store: FilePath
    let consumer: Consumer
    /// The earlier state.
    let base: Generation
    let file: FilePath
    /// All that is in the file.
    let bytes: [UInt8]

    static let name = "Recipes"

    init(_ form: Form) async throws {
        folder = try ScratchFolder()
        store = folder.path.appending("\(Self.name).sqlite")
        var random = RepeatableRandom(seed: 11)
        let sample = try CoreDataSample(at: store)
        try sample.addPhoto(key: 1, content: Data(random.bytes(2000)))
        let earlier = folder.path.appending("earlier.shipment")
        _ = try await Producer(store).send(to: .file(earlier))
        consumer = try Consumer(inbox: folder.path.appending("inbox"))
        let receipt = try #require(try await consumer.receive(from: .file(earlier)).first)
        try #require(receipt.outcome == .installed)
        base = try #require(try consumer.inbox.current(of: receipt.name))
        // Digits of random bytes: what they deflate to is half as long, and has nothing in it twice.
        for key in 2..<68 {
            let digits = random.bytes(1000).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            try sample.add(key: key, cell: Data([1]) + Data(digits.utf8))
        }
        var options = Producer.Options()
        // Blocks of 64 KiB.
        options.cores = 4
        if form == .delta { options.earlier = earlier }
        file = folder.path.appending("a.shipment")
        _ = try await Producer(store, options: options).send(to: .file(file))
        let opened = try OpenFile.reading(file)
        bytes = try opened.read(Int(try opened.size), at: 0)
        try #require(bytes.count >= 64 * 1024)
        try #require((try StreamElement.encodings(in: bytes).first == .delta) == (form == .delta))
    }
}

/// One element of a stream: its preamble, or a frame.
struct StreamElement {
    /// `nil` for the preamble.
    let type: FrameType?
    /// Where its bytes are in the stream.
    let range: Range<Int>

    /// All elements of a whole stream.
    static func all(in stream: [UInt8]) throws -> [StreamElement] {
        var elements = [StreamElement(type: nil, range: 0..<Preamble.size)]
        var start = Preamble.size
        while start < stream.count {
            let header = try FrameHeader(decoding: stream[start...])
            let end = start + FrameHeader.size + header.payloadLength + 4
            elements.append(StreamElement(type: header.type, range: start..<end))
            start = end
        }
        try #require(start == stream.count)
        return elements
    }

    /// In what the parts of a whole stream come, in their order.
    static func encodings(in stream: [UInt8]) throws -> [PartEncoding] {
        try all(in: stream).filter { $0.type == .part }.compactMap {
            PartEncoding(rawValue: stream[$0.range.lowerBound + FrameHeader.size])
        }
    }

    /// What the command line may exit with when a bit of the byte at `index` is turned over, `Protocol/README.md`
    /// section 7: in a header it may come to a type or a length that the protocol does not allow; everything else is damage.
    func exitStatuses(forDamageAt index: Int) -> Set<Int32> {
        let offset = index - range.lowerBound
        guard type != nil else { return [offset < 8 ? 76 : 65] }
        return offset < FrameHeader.size ? [76, 65] : [65]
    }
}
