import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A restore over a store that is damaged or gone dies, or is let down by the system, at every call that changes anything.
/// No byte of what was there is lost, and the same command then does what it was to do.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct DamagedStoreFaultTests {
    enum Loss: String, CaseIterable, Sendable {
        /// Its header is overwritten.
        case header
        /// SQLite opens it, and finds out while it reads.
        case page
        /// Only its log and its external files are there.
        case gone
    }

    private let scratch: ScratchFolder
    private let template: FilePath
    private let content: StoreContent
    private let files: [String: Data]

    init() async throws {
        scratch = try .inMemory()
        template = try scratch.folder("template")
        let sample = try CoreDataSample(at: template.appending("Photos.sqlite"))
        try sample.addEverything()
        try TestStore.make(
            at: sample.path,
            sql: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO ZRECIPE(ZNAME) SELECT 'Soup ' || i FROM n
                """)
        try await BuiltProgram.expectSuccess(["copy", "Photos.sqlite", "--keep-in", "kept"], in: template)
        let name = try #require(try Folder.names(in: template.appending("kept")).first { $0.hasPrefix("Photos-") })
        try PlatformCalls.rename(template.appending("kept/\(name)"), to: template.appending("copy"))
        try Folder.removeTree(at: template.appending("kept"))
        content = try StoreContent(of: sample.path)
        files = try CoreDataSample.files(beside: sample.path)
        for ending in ["-wal", "-shm"] { try? PlatformCalls.removeFile(FilePath(sample.path.string + ending)) }
    }

    private struct Place {
        let path: FilePath
        let desk: FilePath
        let temporary: FilePath
        /// What was there: none of it may be lost.
        let store: Data?
        let log: Data?
        let file: (name: String, bytes: Data)
    }

    private func newPlace(_ loss: Loss) throws -> Place {
        let path = try scratch.folder("\(UUID())")
        let desk = path.appending("desk")
        try FileManager.default.copyItem(atPath: template.string, toPath: desk.string)
        let store = desk.appending("Photos.sqlite")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store.string))
        switch loss {
        case .header: bytes.replaceSubrange(0..<100, with: Data(repeating: 0xab, count: 100))
        case .page:
            let from = bytes.count / 2 / 4096 * 4096
            bytes.replaceSubrange(from..<from + 8192, with: Data(repeating: 0xab, count: 8192))
        case .gone: break
        }
        try PlatformCalls.removeFile(store)
        if loss != .gone { try bytes.write(to: URL(fileURLWithPath: store.string)) }
        let log = loss == .page ? nil : Data("a log, or what is left of it".utf8)
        try log?.write(to: URL(fileURLWithPath: "\(store)-wal"))
        // One external file is gone; another is not what it was.
        let support = desk.appending(".Photos_SUPPORT")
        let names = files.keys.sorted()
        try PlatformCalls.removeFile(support.pushing(FilePath(names[0])))
        let file = (name: names[1], bytes: Data("damaged".utf8))
        try file.bytes.write(to: URL(fileURLWithPath: support.pushing(FilePath(file.name)).string))
        return Place(
            path: path, desk: desk, temporary: try scratch.folder("\(path.lastComponent?.string ?? "")/t"),
            store: loss == .gone ? nil : bytes, log: log, file: file)
    }

    @Test(arguments: Loss.allCases)
    func `killed at any call, it loses nothing, and can be done again`(loss: Loss) async throws {
        try await sweep(loss, .kill, .once, from: 1, by: Soak.isOn ? 1 : 17)
    }

    @Test(arguments: Loss.allCases)
    func `a call that fails loses nothing`(loss: Loss) async throws {
        try await sweep(loss, .eio, .once, from: 2, by: Soak.isOn ? 1 : 37)
        try await sweep(loss, .enospc, .onward, from: 3, by: Soak.isOn ? 1 : 37)
    }

    private func sweep(
        _ loss: Loss, _ action: FaultShim.Action, _ extent: FaultShim.Extent, from first: Int, by step: Int
    ) async throws {
        var call = first
        while try await round(loss, action, extent, call) { call += step }
        #expect(call > 15, "the shim counts almost nothing")
    }

    /// - Returns: Whether there was such a call.
    private func round(
        _ loss: Loss, _ action: FaultShim.Action, _ extent: FaultShim.Extent, _ call: Int
    ) async throws -> Bool {
        let place = try newPlace(loss)
        defer { try? Folder.removeTree(at: place.path) }
        let log = place.path.appending("calls")
        let comment: Comment = "\(loss) \(action)\(extent.rawValue) at call \(call)"
        let arguments = ["restore", "copy", "--over", "Photos.sqlite"]
        let outcome = try await BuiltProgram.run(
            arguments,
            environment: FaultShim.environment(action, at: call, extent, log: log)
                .merging(["TMPDIR": place.temporary.string]) { $1 }, in: place.desk)
        if action != .kill {
            #expect([.exited(0), .exited(73), .exited(74)].contains(outcome.status), "\(comment) \(outcome)")
        }
        try expectNothingIsLost(of: place, "\(comment) \(outcome.stderr)")
        try await BuiltProgram.expectSuccess(
            arguments, environment: ["TMPDIR": place.temporary.string], in: place.desk, "\(comment) \(outcome.stderr)")
        try expectNothingIsLost(of: place, comment)
        let store = place.desk.appending("Photos.sqlite")
        #expect(try CoreDataSample.files(beside: store) == files, comment)
        let names = try FileManager.default.subpathsOfDirectory(atPath: place.desk.string)
        #expect(!names.contains { $0.contains("ship-store-") || $0.hasSuffix(".restoring") }, "\(comment) \(names)")
        if loss == .header {
            #expect(names.filter { $0.hasSuffix("/Photos.sqlite") && $0.contains(".damaged-") }.count == 1)
        }
        #expect(try Folder.names(in: place.temporary) == [], comment)
        // A look at a store may tidy up: it comes last.
        #expect(try StoreContent(of: store) == content, comment)
        return FaultShim.calls(in: log).count >= call
    }

    private func expectNothingIsLost(of place: Place, _ comment: Comment) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: place.desk.string).filter {
            !$0.contains("ship-store-") && !$0.hasPrefix("copy/")
        }
        func isThere(_ bytes: Data?, _ ending: String) -> Bool {
            guard let bytes else { return true }
            return names.contains { name in
                name.hasSuffix(ending)
                    && (try? Data(contentsOf: URL(fileURLWithPath: place.desk.pushing(FilePath(name)).string))) == bytes
            }
        }
        #expect(isThere(place.store, "Photos.sqlite"), comment)
        #expect(isThere(place.log, "Photos.sqlite-wal"), comment)
        #expect(isThere(place.file.bytes, place.file.name), comment)
    }
}
