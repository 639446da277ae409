import Foundation
import ShipProtocol
import Testing

@testable import ShipStore

@Suite struct `What a receiver requires` {
    private func manifest(
        entities: [ForeignText: UInt8]? = nil, userVersion: Int32 = 7,
        schema: ContentDigest = ContentDigest(sha256: [UInt8](repeating: 1, count: 32))
    ) throws -> Manifest {
        Manifest(
            name: try #require(StoreName("Recipes")), createdAt: try #require(Timestamp("2026-11-20T19:04:05Z")),
            producer: Manifest.Software(software: "test", sqlite: "3"),
            store: StoreFacts(
                size: 512, sha256: ContentDigest(sha256: [UInt8](repeating: 9, count: 32)), pageSize: 512, pageCount: 1,
                textEncoding: .utf8, applicationID: 0, userVersion: userVersion, schemaSHA256: schema),
            coreData: entities.map { entities in
                Manifest.CoreDataFacts(
                    entityVersionHashes: entities.mapValues { Data(repeating: $0, count: 32).base64EncodedString() })
            })
    }

    private func model(_ name: ForeignText, _ entities: [ForeignText: UInt8]) -> EntityModel {
        EntityModel(name: name, hashes: entities.mapValues { [UInt8](repeating: $0, count: 32) })
    }

    private func objection(
        to manifest: Manifest, _ change: (inout StoreRequirements) -> Void
    ) -> StoreRequirements.Objection? {
        var requirements = StoreRequirements()
        change(&requirements)
        do throws(StoreRequirements.Objection) {
            _ = try requirements.admit(manifest)
            return nil
        } catch {
            return error
        }
    }

    @Test func `who requires nothing lets everything in`() throws {
        #expect(objection(to: try manifest()) { _ in } == nil)
        #expect(objection(to: try manifest(entities: [:])) { _ in } == nil)
    }

    @Test func `a store of the very model comes in, and of one of several`() throws {
        let old = model("1", ["Recipe": 1])
        let new = model("2", ["Recipe": 2, "Photo": 1])
        var requirements = StoreRequirements()
        requirements.models = [new, old]
        #expect(try requirements.admit(try manifest(entities: ["Recipe": 1])) == old)
        #expect(try requirements.admit(try manifest(entities: ["Photo": 1, "Recipe": 2])) == new)
    }

    @Test func `the entities that differ are named, against the nearest model`() throws {
        let store = try manifest(entities: ["Recipe": 1, "Tag": 1, "Photo": 1])
        let far = model("far", ["Author": 1])
        let near = model("near", ["Recipe": 2, "Photo": 1, "Author": 1])
        let objection = objection(to: store) { $0.models = [far, near] }
        guard case .otherModel(let difference, "near") = objection else {
            Issue.record("\(String(describing: objection))")
            return
        }
        #expect((difference.added, difference.removed) == (["Tag"], ["Author"]))
        #expect(difference.changed == ["Recipe"])
        #expect(
            objection?.cause.text
                == "the store's model is not near: added Tag; removed Author; changed Recipe")
    }

    @Test func `a subset is welcome where it is allowed, and nothing that is new or changed`() throws {
        let models = [model("m", ["Recipe": 1, "Photo": 1])]
        for (entities, isExact, isSubset) in [
            (["Recipe": 1, "Photo": 1], true, true), (["Recipe": 1], false, true), (["Recipe": 2], false, false),
            (["Recipe": 1, "Tag": 1], false, false), ([:], false, false),
        ] as [([ForeignText: UInt8], Bool, Bool)] {
            let store = try manifest(entities: entities)
            #expect((objection(to: store) { $0.models = models } == nil) == isExact, "\(entities)")
            let subset = objection(to: store) { ($0.models, $0.takesModelSubset) = (models, true) }
            #expect((subset == nil) == isSubset, "\(entities)")
        }
    }

    @Test func `a store that Core Data has not made, or that says nothing, is of no model`() throws {
        for isSubset in [false, true] {
            for store in [try manifest(), try manifest(entities: [:])] {
                let objection = objection(to: store) {
                    ($0.models, $0.takesModelSubset) = ([model("m", ["Recipe": 1])], isSubset)
                }
                #expect(objection == .noModel)
            }
        }
    }

    @Test func `only a few of many entities are named, without what rewrites a terminal, and a refusal has room`()
        throws
    {
        let entities = Dictionary(
            uniqueKeysWithValues: (100..<1000).map {
                (ForeignText("E\u{1B}[2J\($0)" + String(repeating: "x", count: 100)), UInt8(1))
            })
        let objection = objection(to: try manifest(entities: entities)) { $0.models = [model("m", ["Recipe": 1])] }
        let failure = ShipmentError.unwelcome(try #require(objection))
        let words = failure.cause.text
        #expect(words.contains(" and 895 more; removed Recipe"))
        #expect(!words.contains("\u{1B}"))
        #expect(failure.refusal?.code == "wrong-model")
        #expect(failure.refusal?.message.unescaped == words)
        #expect(failure.commandStatus == 65)
    }

    @Test func `schemas and versions are required by themselves`() throws {
        let (one, two) = (
            ContentDigest(sha256: [UInt8](repeating: 1, count: 32)),
            ContentDigest(sha256: [UInt8](repeating: 2, count: 32))
        )
        let store = try manifest()
        #expect(objection(to: store) { $0.schemaDigests = [two, one] } == nil)
        #expect(objection(to: store) { $0.schemaDigests = [two] } == .otherSchema(one))
        for (range, isMet) in [(7...7, true), (5...9, true), (8...9, false), (-1...6, false)]
            as [(ClosedRange<Int32>, Bool)]
        {
            let expected = isMet ? nil : StoreRequirements.Objection.otherUserVersion(7, required: range)
            #expect(objection(to: store) { $0.userVersions = range } == expected)
        }
        let both = objection(to: store) { ($0.schemaDigests, $0.userVersions) = ([one], 8...8) }
        #expect(both?.cause.text == "the store's user_version is 7, not 8")
        #expect(both.map { ShipmentError.unwelcome($0) }?.refusal?.code == "wrong-schema")
    }
}
