import Foundation
import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage
import TestSupport
import Testing

/// Stores over 1 GiB, whose lock page comes among those of a long row. With 1,024 bytes a page, and no other size, a
/// pointer map falls on it.
@Suite(.enabled(if: Soak.isOn)) struct LargeStoreTests {
    @Test(arguments: [(1024, "FULL"), (4096, "INCREMENTAL"), (65_536, "NONE")])
    func `a canonical copy over 1 GiB is sound, and its own canonical form`(pageSize: Int, autoVacuum: String)
        async throws
    {
        let folder = try ScratchFolder()
        let copy = folder.path.appending("copy")
        let (first, second) = (folder.path.appending("first"), folder.path.appending("second"))
        try MadeStore(.overOneGibibyte, pageSize: pageSize, autoVacuum: autoVacuum).makeCopy(at: copy, in: folder)
        try Self.writeForm(of: copy, to: first)
        try Self.writeForm(of: first, to: second)
        #expect(try PlatformCalls.status(of: first).size > 1 << 30)
        #expect(try ContentDigest(ofFile: first) == ContentDigest(ofFile: second))

        let questions = [
            "PRAGMA integrity_check", "SELECT id, length(body), hex(substr(body, -9)) FROM t", "SELECT * FROM after",
        ]
        let told = try await Self.told(of: first, questions)
        #expect(told.first == "ok")
        #expect(try await told.dropFirst() == Self.told(of: copy, questions).dropFirst())
    }

    private static func writeForm(of source: FilePath, to target: FilePath) throws {
        let pages = try PageFile(reading: source)
        let written = try PageFile(creating: target, pageSize: pages.pageSize)
        try CanonicalForm.write(of: pages, to: written)
        try written.finish()
    }

    private static func told(of path: FilePath, _ questions: [String]) async throws -> [String] {
        let outcome = try await ChildProgram("/usr/bin/env", ["sqlite3", path.string] + questions)
            .wait(timeout: .seconds(600))
        #expect(outcome.status == .exited(0) && outcome.stderr == "")
        return outcome.lines
    }
}
