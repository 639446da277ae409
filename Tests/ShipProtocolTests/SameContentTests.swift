import ShipProtocol
import TestSupport
import Testing

/// Which shipments are the same (section 5.3).
@Suite struct SameContentTests {
    private func manifest(_ vector: String) throws -> Manifest {
        let vector = try #require(try ProtocolVector.all(.manifest).first { $0.name == vector })
        guard case .manifest(let manifest) = try frame(.manifest, vector.bytes) else { throw ProtocolError.incomplete }
        return manifest
    }

    @Test(arguments: ["manifest_empty_is_absent", "manifest_null_optional", "manifest_tables_none"])
    func `what is absent and what says nothing are the same`(vector: String) throws {
        #expect(try manifest(vector).omissions == nil)
        #expect(try manifest(vector).hasSameContent(as: manifest("manifest_minimal")))
    }

    @Test func `what was left out counts, what is told of tables does not`() throws {
        let whole = try manifest("manifest_minimal")
        #expect(try manifest("manifest_tables_rows_highest").hasSameContent(as: whole))
        #expect(try !manifest("manifest_omissions_tables").hasSameContent(as: whole))
    }
}
