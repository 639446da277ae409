import ShipCompression
import StoreFormat
import TestSupport
import Testing

@testable import StoreEncoding

@Suite struct RangeVectorTests {
    @Test(arguments: try ProtocolVector.all(.ranges))
    func `a store answers as its vector says`(vector: ProtocolVector) throws {
        let base = try MemoryPages(try #require(vector.bytes(labelled: "base")))
        let answers = try RangeAnswers(base, nonce: try #require(vector.bytes(labelled: "nonce")))
        var turns = vector.sections.dropFirst(2)
        while let request = turns.popFirst() {
            guard let answer = turns.popFirst() else {
                #expect(vector.error == "damaged")
                #expect(throws: CompressionError.self) { try answers.answer(request.bytes) }
                return
            }
            #expect(try answers.answer(request.bytes) == answer.bytes)
        }
        #expect(vector.error == nil)
    }
}
