import ShipProtocol
import StoreFiles
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

@Suite struct DeltaVectorTests {
    @Test(arguments: try ProtocolVector.all(.delta))
    func `a base and segments make the file that their vector says`(vector: ProtocolVector) throws {
        let base = try MemoryPages(try #require(vector.bytes(labelled: "base")))
        let (size, pageSize) = (try #require(vector.number("size")), try #require(vector.number("page-size")))
        let target = MemoryPages(pageSize: pageSize, mostPages: UInt32(size / pageSize))
        let builder = DeltaBuilder(base: base, pageSize: pageSize, pageCount: UInt32(size / pageSize)) { _ in target }
        func build() throws {
            for section in vector.sections where section.label == "segment" { try builder.append(section.bytes) }
            try builder.finish()
        }
        if vector.error == nil {
            try build()
            #expect(target.bytes.count == size)
            #expect(ContentDigest(hashing: target.bytes).description == vector["sha256"])
        } else {
            #expect(vector.error == "damaged")
            do {
                try build()
                Issue.record("it is built")
            } catch CompressionError.damaged {}
        }
    }
}
