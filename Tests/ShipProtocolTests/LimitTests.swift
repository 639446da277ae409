import Foundation
import ShipProtocol
import Testing

/// Limits of lists that are too long for a vector.
@Suite struct `A limit` {
    private static let digest = String(repeating: "a", count: 64)
    private static let hash = Data(0..<32).base64EncodedString()

    private static func manifest(_ more: String) -> String {
        """
        {"name":"Recipes","createdAt":"2026-11-20T19:04:05Z","producer":{"software":"s","sqlite":"3"},
        "store":{"size":512,"sha256":"\(digest)","pageSize":512,"pageCount":1,"textEncoding":"UTF-8","applicationID":0,
        "userVersion":0,"schemaSHA256":"\(digest)"}\(more.isEmpty ? "" : ",")\(more)}
        """
    }

    private static func list(_ count: Int, _ element: (Int) -> String) -> String {
        (0..<count).map(element).joined(separator: ",")
    }

    private static func uuid(_ number: Int) -> String {
        "00000000-0000-0000-0000-" + String(number + 1_000_000_000_000).suffix(12)
    }

    private func expect(_ type: FrameType, _ json: String, isTaken: Bool) {
        if isTaken {
            #expect((try? frame(type, json: json)) != nil)
        } else {
            let error = #expect(throws: ProtocolError.self) { try frame(type, json: json) }
            #expect(error?.code == .badManifest)
        }
    }

    @Test(arguments: [(4096, true), (4097, false)])
    func `of entities is kept`(count: Int, isTaken: Bool) {
        let entities = Self.list(count) { "\"E\($0)\":\"\(Self.hash)\"" }
        expect(.manifest, Self.manifest("\"coreData\":{\"entityVersionHashes\":{\(entities)}}"), isTaken: isTaken)
    }

    @Test(arguments: [(16_384, 0, true), (16_385, 0, false), (16_383, 1, true), (16_384, 1, false), (0, 16_385, false)])
    func `of external files is kept, those that are missing included`(there: Int, missing: Int, isTaken: Bool) {
        let files = Self.list(there) {
            "{\"folder\":\"_EXTERNAL_DATA\",\"name\":\"\(Self.uuid($0))\",\"size\":0,\"sha256\":\"\(Self.digest)\"}"
        }
        let absent = Self.list(missing) { "{\"folder\":\"_FBF\",\"name\":\"\(Self.uuid($0))\"}" }
        let json = Self.manifest(
            "\"coreData\":{\"entityVersionHashes\":{}},\"externalFiles\":[\(files)],\"missingExternalFiles\":[\(absent)]"
        )
        expect(.manifest, json, isTaken: isTaken)
    }

    @Test(arguments: [(16_384, 0, true), (16_384, 1, false), (0, 16_385, false)])
    func `of external files is kept, those that were left out included`(there: Int, omitted: Int, isTaken: Bool) {
        let files = Self.list(there) {
            "{\"folder\":\"_EXTERNAL_DATA\",\"name\":\"\(Self.uuid($0))\",\"size\":0,\"sha256\":\"\(Self.digest)\"}"
        }
        let absent = Self.list(omitted) { "{\"folder\":\"_FBF\",\"name\":\"\(Self.uuid($0))\",\"size\":1}" }
        let json = Self.manifest(
            "\"coreData\":{\"entityVersionHashes\":{}},\"externalFiles\":[\(files)],"
                + "\"omissions\":{\"externalFiles\":[\(absent)]}")
        expect(.manifest, json, isTaken: isTaken)
    }

    @Test(arguments: [(2048, true), (2049, false)])
    func `of tables is kept`(count: Int, isTaken: Bool) {
        let tables = Self.list(count) { "\"t\($0)\":{\"rows\":0,\"digest\":\"0123456789abcdef0123456789abcdef\"}" }
        expect(.manifest, Self.manifest("\"tables\":{\(tables)}"), isTaken: isTaken)
    }

    @Test(arguments: [(2048, true), (2049, false)])
    func `of tables that were left out is kept`(count: Int, isTaken: Bool) {
        let tables = Self.list(count) { "\"t\($0)\"" }
        expect(.manifest, Self.manifest("\"omissions\":{\"tables\":[\(tables)]}"), isTaken: isTaken)
    }

    @Test(arguments: [(64, true), (65, false)])
    func `of pairs of metadata is kept`(count: Int, isTaken: Bool) {
        let pairs = Self.list(count) { "\"k\($0)\":\"\"" }
        expect(.manifest, Self.manifest("\"metadata\":{\(pairs)}"), isTaken: isTaken)
    }

    @Test(arguments: [(1024, true), (1025, false)])
    func `of held stores is kept`(count: Int, isTaken: Bool) {
        let held = Self.list(count) { "{\"name\":\"s\($0)\",\"manifest\":\"\(Self.digest.prefix(32))\"}" }
        expect(
            .hello, "{\"software\":\"s\",\"encodings\":[\"columns\"],\"holds\":[\(held)]}",
            isTaken: isTaken)
    }

    @Test func `of held stores is kept by a consumer that holds more`() throws {
        let id = ManifestContent(json: []).id
        let held = try (0..<1025).map { number in
            Hello.HeldStore(name: try #require(StoreName("s\(number)")), manifest: id)
        }
        #expect(Hello(software: "s", taking: CommonEncodings([]), holds: held).holds?.count == 1024)
    }

    @Test(arguments: [(16_385, true), (16_386, false)])
    func `of parts that are wanted is kept`(count: Int, isTaken: Bool) {
        expect(.answer, "{\"wants\":[\(Self.list(count) { "{\"part\":\($0)}" })]}", isTaken: isTaken)
    }

    @Test(arguments: [("1", true), ("9007199254740991", true), ("9007199254740992", false), ("-1", false)])
    func `of a generation's number is kept`(number: String, isTaken: Bool) {
        let receipt = "\"name\":\"Recipes\",\"sha256\":\"\(Self.digest)\",\"outcome\":\"installed\""
        expect(.receipt, "{\(receipt),\"generation\":\(number)}", isTaken: isTaken)
    }

    @Test func `of a manifest's size is kept by who reads and who writes`() throws {
        let limit = 4 * 1024 * 1024
        let short = Self.manifest("\"x\":\"\"")
        let fitting = short.replacingOccurrences(
            of: "\"x\":\"\"", with: "\"x\":\"\(String(repeating: "x", count: limit - short.utf8.count))\"")
        #expect(fitting.utf8.count == limit)
        expect(.manifest, fitting, isTaken: true)
        #expect(throws: ProtocolError.payloadTooLong(type: 2, length: UInt32(limit + 2), limit: limit + 1)) {
            try frame(.manifest, json: fitting + " ")
        }
    }

    @Test func `of a manifest's size is met before anything is sent`() throws {
        let sha256 = try #require(ContentDigest(hex: Self.digest))
        let hashes = (0..<100_000).map { (ForeignText("Entity\($0)"), Self.hash) }
        let manifest = Manifest(
            name: StoreName(suggestedBy: "s"), createdAt: Timestamp(Date()),
            producer: Manifest.Software(software: "s", sqlite: "3"),
            store: StoreFacts(
                size: 512, sha256: sha256, pageSize: 512, pageCount: 1, textEncoding: .utf8, applicationID: 0,
                userVersion: 0, schemaSHA256: sha256),
            coreData: Manifest.CoreDataFacts(entityVersionHashes: Dictionary(uniqueKeysWithValues: hashes)))
        let error = #expect(throws: ProtocolError.self) { try Frame.manifest(manifest).serialized() }
        if case .payloadTooLong(type: 2, _, _) = error { return }
        Issue.record("\(String(describing: error))")
    }
}
