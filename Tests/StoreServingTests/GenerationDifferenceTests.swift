import ShipProtocol
import StoreServing
import TestSupport
import Testing

@Suite struct GenerationDifferenceTests {
    private func difference(_ old: SampleWords?, _ new: SampleWords) throws -> GenerationDifference {
        let page = [UInt8](repeating: 0, count: 4096)
        return GenerationDifference(
            from: try old?.manifest("Recipes", page), to: try new.manifest("Recipes", page), tables: [])
    }

    @Test func `equal manifests have no difference`() throws {
        let words = SampleWords(files: [try SampleWords.file(1): "one"], metadata: ["k": "v"])
        let difference = try difference(words, words)
        #expect(!difference.hasSchemaChanged)
        #expect(difference.externalFiles.isEmpty)
        #expect(difference.metadata == [:])
    }

    @Test func `in a first shipment everything is new`() throws {
        let new = SampleWords(files: [try SampleWords.file(1): "one"], metadata: ["k": "v"])
        let difference = try difference(nil, new)
        #expect(difference.hasSchemaChanged)
        #expect(difference.externalFiles.added == [try SampleWords.file(1)])
        #expect(difference.metadata["k"]?.before == nil)
        #expect(difference.metadata["k"]?.after == "v")
    }

    @Test func `external files and pairs are told by what became of them`() throws {
        let names = try (1...4).map(SampleWords.file)
        let old = SampleWords(
            files: [names[0]: "same", names[1]: "before", names[2]: "gone"], metadata: ["a": "1", "b": "1", "c": "1"])
        let new = SampleWords(
            files: [names[0]: "same", names[1]: "after", names[3]: "come"], metadata: ["a": "1", "b": "2", "d": "3"])
        let difference = try difference(old, new)
        #expect(difference.externalFiles.added == [names[3]])
        #expect(difference.externalFiles.removed == [names[2]])
        #expect(difference.externalFiles.replaced == [names[1]])
        #expect(difference.metadata.keys.sorted() == ["b", "c", "d"])
        #expect(difference.metadata["b"]?.before == "1" && difference.metadata["b"]?.after == "2")
        #expect(difference.metadata["c"]?.before == "1" && difference.metadata["c"]?.after == nil)
    }

    @Test func `another schema is told`() throws {
        let words = SampleWords()
        let old = try words.manifest("Recipes", [UInt8](repeating: 0, count: 4096))
        let new = try words.manifest("Recipes", [UInt8](repeating: 1, count: 4096))
        #expect(GenerationDifference(from: old, to: new, tables: []).hasSchemaChanged)
    }
}
