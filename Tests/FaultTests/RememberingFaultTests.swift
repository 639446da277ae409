import Foundation
import ShipStore
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A sender dies, or is let down by the system, at any of its calls that change a file system, while it remembers what was
/// acknowledged: there is a whole copy or none, the next one tidies up, and what is remembered never fails a send.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
final class RememberingFaultTests {
    private let scratch: ScratchFolder
    private let store: FilePath
    private let temporary: FilePath
    private let memory: FilePath
    private let receiver: ChildProgram
    private let socket: FilePath

    private static let calls = [
        "open", "write", "pwrite", "ftruncate", "fsync", "rename", "renameat", "link", "linkat", "unlink", "unlinkat",
        "mkdir",
        "mkdirat", "rmdir",
    ]

    init() async throws {
        scratch = try .inMemory()
        store = try scratch.folder("phone").appending("Recipes.sqlite")
        temporary = try scratch.folder("tmp")
        memory = try scratch.folder("state").appending("ship-store/bases")
        socket = scratch.path.appending("s")
        try TestStore.make(at: store, sql: "CREATE TABLE recipe(title); INSERT INTO recipe VALUES ('Soup')")
        receiver = try BuiltProgram.start(
            ["receive", "--into", scratch.path.appending("inbox").string, "--listen", "unix:\(socket)"])
        _ = try await receiver.waitForLine(containing: "listening on ")
    }

    private var environment: [String: String] {
        ["TMPDIR": temporary.string, "XDG_STATE_HOME": scratch.path.appending("state").string]
    }

    private func send(_ more: [String: String] = [:]) async throws -> ChildProgram.Outcome {
        try await BuiltProgram.run(
            ["send", store.string, "--to", "unix:\(socket)", "-q"], environment: environment.merging(more) { $1 })
    }

    private struct Line: Decodable {
        let sha256: String
        let path: String
    }

    /// What is remembered, all of it whole.
    private func remembered(_ comment: Comment) async throws -> [Line] {
        let outcome = try await BuiltProgram.expectSuccess(["bases", "--json"], environment: environment, comment)
        let lines = try outcome.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        for line in lines { #expect(try FolderListing.sha256(of: FilePath(line.path)) == line.sha256, comment) }
        return lines
    }

    @Test(.enabled("may not mount a tmpfs") { await SmallDisk.isAvailable() })
    func `what is remembered makes way for the copy of a shipment`() async throws {
        try await SmallDisk.with(size: "24m") { disk in
            let places = ["TMPDIR": disk.string, "XDG_STATE_HOME": disk.string]
            for number in 0..<6 {
                let other = scratch.path.appending("phone").appending("Store\(number).sqlite")
                try TestStore.make(at: other, sql: "CREATE TABLE t(a); INSERT INTO t VALUES (randomblob(3000000))")
                try await BuiltProgram.expectSuccess(
                    ["send", other.string, "--to", "unix:\(socket)", "-q"], environment: places, "\(number)")
                // What others put there leaves no room for the next copy.
                guard number == 4 else { continue }
                let free = try PlatformCalls.freeSpace(around: disk)
                try OpenFile.creating(disk.appending("others")).write(Array(repeating: 1, count: Int(free - 1_000_000)))
            }
        }
    }

    @Test(arguments: [FaultShim.Action.kill, .eio, .enospc])
    func `there is a whole copy or none, and the next send tidies up`(action: FaultShim.Action) async throws {
        #expect(try await send().status == .exited(0))
        let first = try await remembered("the first")
        #expect(first.count == 1)
        let step = Soak.isOn ? 1 : 2
        // Each takes other calls.
        var call = Soak.isOn || action == .kill ? 1 : 2
        var (isThereSuchACall, touched) = (true, 0)
        while isThereSuchACall {
            let comment: Comment = "\(action) at \(call)"
            try TestStore.make(at: store, sql: "INSERT INTO recipe VALUES ('Bread \(call)')")
            let log = scratch.path.appending("calls \(call)")
            let outcome = try await send(FaultShim.environment(action, at: call, only: Self.calls, log: log))
            let calls = FaultShim.calls(in: log)
            isThereSuchACall = calls.count >= call
            if isThereSuchACall, isOfMemoryAlone(calls[call - 1]) {
                touched += 1
                if action != .kill { #expect(outcome.status == .exited(0), "\(comment) \(outcome.stderr)") }
            }
            let after = try await remembered(comment)
            #expect(after.count <= 1, comment)

            #expect(try await send().status == .exited(0), comment)
            let now = try await remembered(comment)
            #expect(now.count == 1, comment)
            #expect(try Folder.names(in: memory) == ["index.json", "objects"], comment)
            #expect(try Folder.names(in: memory.appending("objects")).count == 2, comment)
            #expect(try Folder.names(in: temporary) == [], comment)
            call += step
        }
        #expect(call > 20 && touched > 2, "the shim counts almost nothing")
    }

    @Test func `a sender that dies leaves external files to build on that are whole, or none`() async throws {
        let sample = try CoreDataSample(at: store.removingLastComponent().appending("Notes.sqlite"))
        var random = RepeatableRandom(seed: 1)
        var content = Data((0..<30_000).map { _ in String(random.next() % 5000) }.joined(separator: " ").utf8)
        let folder = sample.supportFolder.appending("_EXTERNAL_DATA")
        var uuid = try sample.addPhoto(key: 1, content: content)
        func replace() throws {
            content.insert(contentsOf: Array("\(random.next())".utf8), at: content.count / 2)
            let next = UUID().uuidString
            try content.write(to: URL(filePath: folder.appending(next).string))
            let cell = CoreDataSample.reference(2, next).map { String(format: "%02x", $0) }.joined()
            try TestStore.make(at: sample.path, sql: "UPDATE ZPHOTO SET ZDATA = x'\(cell)' WHERE Z_PK = 1")
            try PlatformCalls.removeFile(folder.appending(uuid))
            uuid = next
        }
        func send(_ more: [String: String] = [:]) async throws -> ChildProgram.Outcome {
            try await BuiltProgram.run(
                ["send", sample.path.string, "--to", "unix:\(socket)", "-q"],
                environment: environment.merging(more) { $1 })
        }
        #expect(try await send().status == .exited(0))
        let step = Soak.isOn ? 1 : 7
        var (call, isThereSuchACall) = (1, true)
        while isThereSuchACall {
            let comment: Comment = "killed at \(call)"
            try replace()
            let log = scratch.path.appending("calls of files \(call)")
            _ = try await send(FaultShim.environment(.kill, at: call, only: Self.calls, log: log))
            isThereSuchACall = FaultShim.calls(in: log).count >= call
            _ = try await remembered(comment)
            try replace()
            #expect(try await send().status == .exited(0), comment)
            let installed = scratch.path.appending("inbox/.Notes_SUPPORT/_EXTERNAL_DATA").appending(uuid)
            #expect(try Data(contentsOf: URL(filePath: installed.string)) == content, comment)
            #expect(try Folder.names(in: memory) == ["index.json", "objects"], comment)
            // A copy, a manifest, and an external file.
            #expect(try Folder.names(in: memory.appending("objects")).count == 3, comment)
            #expect(try Folder.names(in: temporary) == [], comment)
            call += step
        }
        #expect(call > 30, "the shim counts almost nothing")
    }

    /// Whether it is about nothing but what is remembered: the copy is of the shipment, too.
    private func isOfMemoryAlone(_ call: FaultShim.Call) -> Bool {
        [call.path, call.target ?? ""].contains { path in
            let path = FilePath(path)
            return path.starts(with: memory)
                && (path.starts(with: memory.appending("objects"))
                    || ["index", "index.json", "manifest"].contains(path.lastComponent?.string))
        }
    }
}
