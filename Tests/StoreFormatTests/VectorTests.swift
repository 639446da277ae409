import StoreFormat
import TestSupport
import Testing

@Suite struct VectorTests {
    @Test(arguments: try ProtocolVector.all(.canonical))
    func `a compact copy has the canonical form that its vector says`(vector: ProtocolVector) throws {
        let source = try #require(vector.bytes(labelled: "source"))
        guard vector["canonical"] != "none" else {
            #expect(throws: StoreFlaw.self) { try MemoryPages.canonicalForm(of: source) }
            return
        }
        let canonical = try MemoryPages.canonicalForm(of: source)
        #expect(canonical.count == vector.number("canonical-size"))
        #expect(canonical.sha256 == vector["canonical-sha256"])
        if let expected = vector.bytes(labelled: "canonical") { #expect(canonical == expected) }
        #expect(try MemoryPages.canonicalForm(of: canonical) == canonical)
    }
}
