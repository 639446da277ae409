import Foundation
import StoreFormat
import SystemPackage
import TestSupport
import Testing

@Suite struct CanonicalFormTests {
    @Test(arguments: MadeStore.all)
    func `a canonical copy is sound, has the rows of its source, and is its own canonical form`(
        store: MadeStore
    ) async throws {
        let folder = try ScratchFolder.inMemory()
        var forms: [[UInt8]] = []
        for history in MadeStore.History.allCases {
            let copy = folder.path.appending("\(history)")
            try store.makeCopy(at: copy, history, in: folder)
            let canonical = try MemoryPages.canonicalForm(of: copy.content)
            #expect(try MemoryPages.canonicalForm(of: canonical) == canonical)
            let written = folder.path.appending("canonical \(history)")
            try written.write(canonical)
            forms.append(canonical)
            guard history == .winding else { continue }
            let told = try await Self.told(of: written)
            #expect(told.contains("ok"))
            #expect(try await told == Self.told(of: copy))
        }
        #expect(forms[0] == forms[1])
    }

    @Test func `the canonical form is what an independent program makes of it`() async throws {
        let folder = try ScratchFolder.inMemory()
        var expected: [String] = []
        var paths: [String] = []
        for (number, store) in MadeStore.all.enumerated() {
            let copy = folder.path.appending("\(number)")
            try store.makeCopy(at: copy, .winding, in: folder)
            let canonical = try MemoryPages.canonicalForm(of: copy.content)
            expected.append("\(canonical.sha256) \(canonical.count) \(copy)")
            paths.append(copy.string)
        }
        let program = try ChildProgram("/usr/bin/env", ["python3", Self.independentProgram] + paths)
        let outcome = try await program.wait(timeout: .seconds(120))
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(outcome.lines == expected)
    }

    /// A header of 127 bytes holds 126 bytes of types, and so does one of 128, whose size takes two bytes.
    @Test func `a header of either size has one canonical form`() throws {
        let forms = try [[0x7F], [0x81, 0x00]].map { (size: [UInt8]) in
            let row = HandmadeStore.cell(size + [UInt8](repeating: 0, count: 126), rowid: 1)
            let store = try HandmadeStore(
                schema: [HandmadeStore.schemaRow(name: "t", root: 2)], pages: [HandmadeStore.page(.table, [row])])
            return try MemoryPages.canonicalForm(of: store.bytes)
        }
        #expect(forms[0] == forms[1])
    }

    /// What SQLite says of a store: its rows, settings and schema, and whether it is sound.
    private static func told(of path: FilePath) async throws -> [String] {
        let settings = ["page_size", "auto_vacuum", "encoding", "user_version", "application_id", "integrity_check"]
        let program = try ChildProgram(
            "/usr/bin/env",
            ["sqlite3", path.string, ".filectrl reserve_bytes", ".dump --preserve-rowids"]
                + settings.map { "PRAGMA \($0)" })
        let outcome = try await program.wait()
        #expect(outcome.status == .exited(0) && outcome.stderr == "")
        return outcome.lines.sorted()
    }

    private static var independentProgram: String {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return tests.deletingLastPathComponent().appending(path: "Protocol/canonical.py").path
    }
}
