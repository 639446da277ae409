import ShipProtocol
import StoreFiles
import Testing

/// Which store may come under the name of another (section 4.10).
@Suite struct SuccessionTests {
    private func manifest(
        identity: ForeignText? = nil, rows: [ForeignText: Int64]? = nil, schema: String = "a", pages: Int64 = 3,
        leftOut: [ForeignText] = []
    ) throws -> Manifest {
        let digest = ContentDigest(hashing: Array(schema.utf8))
        return Manifest(
            name: try #require(StoreName("Recipes")), createdAt: try #require(Timestamp("2026-11-20T19:04:05Z")),
            producer: Manifest.Software(software: "test", sqlite: "3"),
            store: StoreFacts(
                size: pages * 512, sha256: digest, pageSize: 512, pageCount: pages, textEncoding: .utf8,
                applicationID: 0, userVersion: 0, schemaSHA256: digest),
            identity: identity,
            omissions: leftOut.isEmpty ? nil : Omissions(history: false, tables: leftOut, externalFiles: []),
            tables: rows?.mapValues { TableContent(rows: $0, sha256: digest) })
    }

    private func flaw(
        _ manifest: Manifest, after held: Manifest, allowingEmpty allowsEmpty: Bool = false,
        readTables: (() -> (held: Set<String>, new: Set<String>)?)? = nil
    ) -> SuccessionError? {
        do throws(SuccessionError) {
            try manifest.checkSuccession(to: held, allowingEmpty: allowsEmpty, readTables: readTables)
            return nil
        } catch {
            return error
        }
    }

    @Test func `an identity says it all`() throws {
        let held = try manifest(identity: "A", rows: ["old": 3])
        #expect(flaw(try manifest(identity: "A", rows: ["new": 0], schema: "b"), after: held) == nil)
        #expect(flaw(try manifest(identity: "A", rows: [:], pages: 1), after: held) == nil)
        #expect(flaw(try manifest(identity: "B", rows: ["old": 3]), after: held) == .otherIdentity)
        #expect(flaw(try manifest(rows: ["old": 3]), after: held) == .otherIdentity)
    }

    @Test func `without one a table is in common, by its name`() throws {
        let held = try manifest(rows: ["Recipe": 3, "tag": 1, "ship_store_metadata": 1])
        #expect(flaw(try manifest(rows: ["rECIPE": 1, "other": 1], schema: "b"), after: held) == nil)
        #expect(flaw(try manifest(identity: "A", rows: ["tag": 1]), after: held) == nil)
        #expect(flaw(try manifest(rows: ["invoice": 3]), after: held) == .noTableInCommon)
        #expect(
            flaw(try manifest(rows: ["invoice": 3, "SHIP_STORE_METADATA": 1]), after: held) == .noTableInCommon)
        #expect(flaw(try manifest(rows: ["été": 1]), after: try manifest(rows: ["ÉTÉ": 1])) == .noTableInCommon)
    }

    @Test func `where the tables are not told, the stores tell them once both are there`() throws {
        let (told, untold, changed) = (
            try manifest(rows: ["recipe": 3]), try manifest(schema: "a"), try manifest(schema: "b")
        )
        func flaws(_ held: Set<String>, _ new: Set<String>) -> Set<SuccessionError?> {
            Set([(changed, told), (told, changed), (changed, untold)].map { flaw($0, after: $1) { (held, new) } })
        }
        #expect(flaw(untold, after: told) == nil && flaw(changed, after: told) == nil)
        #expect(flaws(["", "recipe"], ["RECIPE", "more"]) == [nil])
        #expect(flaws([""], ["", "more"]) == [nil])
        #expect(flaws([], ["more"]) == [nil])
        #expect(flaws(["recipe", "ship_store_metadata"], ["ship_store_metadata"]) == [.noTableInCommon])
        #expect(flaw(changed, after: told) { nil } == .otherSchema)
        #expect(flaw(untold, after: told) { nil } == nil)
    }

    @Test func `nothing does not follow something, and anything follows nothing`() throws {
        let (full, cleared) = (try manifest(rows: ["recipe": 3]), try manifest(rows: ["recipe": 0]))
        let (empty, unknown) = (try manifest(rows: [:], pages: 1), try manifest(pages: 1))
        for held in [full, cleared] {
            for nothing in [empty, unknown, try manifest(rows: ["ship_store_metadata": 1], pages: 2)] {
                #expect(flaw(nothing, after: held) == .isEmpty)
                #expect(flaw(nothing, after: held, allowingEmpty: true) == .isEmpty)
                #expect(flaw(held, after: nothing) == nil)
            }
        }
        #expect(flaw(cleared, after: full) == .isEmpty)
        #expect(flaw(cleared, after: full, allowingEmpty: true) == nil)
        #expect(flaw(full, after: cleared) == nil)
        #expect(flaw(try manifest(rows: ["recipe": 0], leftOut: ["recipe"]), after: full) == nil)
    }
}
