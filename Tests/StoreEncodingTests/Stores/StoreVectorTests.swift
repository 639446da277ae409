import ShipProtocol
import StoreFiles
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

@Suite struct StoreVectorTests {
    @Test(arguments: try ProtocolVector.all(.rows))
    func `segments make the store that their vector says`(vector: ProtocolVector) throws {
        let segments = vector.sections.map(\.bytes)
        let size = try #require(vector.number("size"))
        // The manifest's page size is that of the settings, unless there is none.
        let pageSize = segments.first.flatMap(Self.pageSize) ?? 512
        let target = MemoryPages(pageSize: pageSize, mostPages: UInt32(size / pageSize))
        let builder = StoreBuilder(pageSize: pageSize, pageCount: UInt32(size / pageSize)) { _ in target }
        func build() throws {
            for segment in segments { try builder.append(segment) }
            guard builder.isComplete, target.bytes.count == size else { throw CompressionError.damaged(.rows) }
        }
        if vector.error == nil {
            try build()
            #expect(ContentDigest(hashing: target.bytes).description == vector["sha256"])
        } else {
            #expect(vector.error == "damaged")
            do {
                try build()
                Issue.record("it is built")
            } catch CompressionError.damaged {}
        }
    }

    private static func pageSize(of segment: [UInt8]) -> Int? {
        guard var reader = try? SegmentReader(decoding: segment), let tag = try? reader.number(), tag == 0,
            let number = try? reader.number(), (512...65_536).contains(number), number.nonzeroBitCount == 1
        else { return nil }
        return Int(number)
    }
}
