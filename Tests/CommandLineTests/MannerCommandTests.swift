import Foundation
import SystemPackage
import TestSupport
import Testing

/// `--level`, `--plain` and `--no-self-check` of `send`.
@Suite struct MannerCommandTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try TestStore.make(
            at: desk["Words.sqlite"],
            sql: """
                CREATE TABLE word(id INTEGER PRIMARY KEY, text TEXT);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                INSERT INTO word(text) SELECT 'word ' || (i * i % 7919) || ' of ' || (i % 13) FROM n;
                """)
    }

    private func size(_ arguments: String...) async throws -> Int {
        try await desk.run(["send", "Words.sqlite", "--to", "./a.shipment"] + arguments).expectSuccess()
        try await desk.run("verify", "a.shipment").expectSuccess()
        let attributes = try FileManager.default.attributesOfItem(atPath: desk["a.shipment"].string)
        return try #require(attributes[.size] as? Int)
    }

    @Test func `a file is as small as can be, unless a level says otherwise`() async throws {
        let (fastest, smallest) = (try await size("--level", "1", "--plain"), try await size("--level", "9", "--plain"))
        let auto = try await size("--plain")
        #expect(auto < smallest && smallest < fastest)
        // The manifest says when the copy was taken, which deflates to a few bytes more or less.
        #expect(abs(try await size("--level", "auto", "--plain") - auto) < 32)
        #expect(try await size() <= auto)
    }

    @Test(arguments: [["--plain"], ["--no-self-check"], ["--level", "3"], ["--plain", "--level", "auto"]])
    func `a store arrives however it is sent`(arguments: [String]) async throws {
        let receiver = try await desk.listen()
        try await desk.run(["send", "Words.sqlite", "--to", receiver.address] + arguments).expectSuccess()
        #expect(try desk.hasInstalled("Words", from: "Words.sqlite"))
        _ = try await receiver.stop()
    }
}
