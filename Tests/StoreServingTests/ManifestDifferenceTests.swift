import ShipProtocol
import StoreServing
import TestSupport
import Testing

@Suite struct ManifestDifferenceTests {
    private typealias TableChange = ManifestDifference.TableChange

    private func difference(_ old: SampleWords?, _ new: SampleWords) throws -> ManifestDifference {
        let page = [UInt8](repeating: 0, count: 4096)
        return ManifestDifference(from: try old?.manifest("Recipes", page), to: try new.manifest("Recipes", page))
    }

    @Test func `equal manifests have no difference`() throws {
        let words = SampleWords(
            tables: ["a": SampleWords.table(3, "x")], files: [try SampleWords.file(1): "one"], metadata: ["k": "v"])
        let difference = try difference(words, words)
        #expect(difference.tables == [])
        #expect(!difference.hasSchemaChanged)
        #expect(difference.externalFiles.isEmpty)
        #expect(difference.metadata == [:])
    }

    @Test func `tables that came, went or changed are told with their rows`() throws {
        let old = SampleWords(tables: [
            "changed": SampleWords.table(3, "x"), "sameRows": SampleWords.table(5, "x"),
            "gone": SampleWords.table(7, "x"), "same": SampleWords.table(9, "x"),
        ])
        let new = SampleWords(tables: [
            "changed": SampleWords.table(4, "y"), "sameRows": SampleWords.table(5, "y"),
            "come": SampleWords.table(0, ""), "same": SampleWords.table(9, "x"),
        ])
        let changes = try #require(try difference(old, new).tables)
        #expect(changes.map(\.name) == ["changed", "come", "gone", "sameRows"])
        #expect(changes.map(\.rowsBefore) == [3, nil, 7, 5])
        #expect(changes.map(\.rowsAfter) == [4, 0, nil, 5])
    }

    @Test func `what a manifest does not say of its tables is not known`() throws {
        let silent = SampleWords()
        let telling = SampleWords(tables: ["a": SampleWords.table(1, "x")])
        #expect(try difference(silent, telling).tables == nil)
        #expect(try difference(telling, silent).tables == nil)
        #expect(try difference(silent, silent).tables == nil)
        #expect(try difference(nil, silent).tables == nil)
    }

    @Test func `in a first shipment everything is new`() throws {
        let new = SampleWords(
            tables: ["a": SampleWords.table(2, "x")], files: [try SampleWords.file(1): "one"], metadata: ["k": "v"])
        let difference = try difference(nil, new)
        #expect(difference.tables?.map(\.rowsBefore) == [nil])
        #expect(difference.tables?.map(\.rowsAfter) == [2])
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
        #expect(ManifestDifference(from: old, to: new).hasSchemaChanged)
    }
}
