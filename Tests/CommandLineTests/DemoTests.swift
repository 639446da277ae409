import StoreFiles
import TestSupport
import Testing

@Suite struct DemoTests {
    @Test func `the demo tells the whole story in a dozen lines, and leaves nothing behind`() async throws {
        let desk = try Desk()
        let outcome = try await desk.run("demo").expectSuccess()
        #expect(outcome.stdout == "")
        let lines = outcome.stderr.split(separator: "\n")
        #expect((10...16).contains(lines.count))
        for words in [
            "in WAL mode", "listens on 127.0.0.1:", "on the wire", "verified", "generation 2", "held on",
            "as they came",
        ] {
            #expect(lines.contains { $0.contains(words) }, "\(words)")
        }
        #expect(lines.last?.hasSuffix("nothing is left behind") == true)
        #expect(try Folder.names(in: desk.temporary) == [])
        #expect(try Folder.names(in: desk.path) == [])
    }
}
