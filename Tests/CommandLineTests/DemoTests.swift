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

    @Test(arguments: [("none", 66), ("file", 73)])
    func `a temporary folder that is none has the status of any other command`(name: String, status: Int32) async throws
    {
        let desk = try Desk()
        for command in ["demo", "copy R.sqlite --to o"] {
            let outcome = try await desk.shell(
                "touch file; sqlite3 R.sqlite 'PRAGMA user_version = 1'; TMPDIR=\(name) \"$SHIP\" \(command)")
            #expect(outcome.status == .exited(status), "\(outcome.stderr)")
            #expect(outcome.complaints.last?.contains("hint: TMPDIR says so") == true, "\(outcome.stderr)")
        }
    }
}
