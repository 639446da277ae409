import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A device, or who receives from it, dies while numbers are written down: none is used twice, and no shipment comes in
/// twice.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct OriginFaultTests {
    private let scratch: ScratchFolder
    private let source: FilePath
    private let device: String
    /// Holds the first shipment.
    private let template: FilePath
    private let shipments: [FilePath]

    init() async throws {
        let scratch = try ScratchFolder.inMemory()
        source = scratch.path.appending("Recipes.sqlite")
        device = scratch.path.appending("device").string
        template = scratch.path.appending("template")
        try TestStore.make(at: source, sql: "CREATE TABLE t (a)")
        var shipments: [FilePath] = []
        for number in 1...2 {
            try TestStore.make(at: source, sql: "INSERT INTO t VALUES (\(number))")
            shipments.append(scratch.path.appending("\(number).shipment"))
            try await BuiltProgram.expectSuccess(
                ["send", source.string, "--to", shipments[number - 1].string, "--sign", "--identity", device])
        }
        try await BuiltProgram.expectSuccess(["receive", "--into", template.string, "--from", shipments[0].string])
        (self.scratch, self.shipments) = (scratch, shipments)
    }

    @Test(arguments: [FaultShim.Action.kill, .eio])
    func `a receiver that stops at any call takes no shipment twice`(action: FaultShim.Action) async throws {
        let log = scratch.path.appending("calls")
        let whole = try copy("whole")
        try await BuiltProgram.expectSuccess(
            ["receive", "--into", whole.string, "--from", shipments[1].string],
            environment: FaultShim.environment(log: log))
        let calls = FaultShim.calls(in: log)
        let switched = try #require(
            calls.lastIndex { $0.name.hasPrefix("rename") && $0.target?.hasSuffix("/Recipes/current") == true })
        let recorded = try #require(calls.lastIndex { $0.target?.hasSuffix("/Recipes/origin.json") == true })
        #expect(switched < recorded)
        #expect(calls.contains { $0.path.hasSuffix("/origin.json") && $0.name.contains("sync") })
        // The calls from the switch to the record, counted from 1; the one after it is made, and then the record is.
        let places = Soak.isOn ? 1...calls.count : switched + 1...recorded + 2
        for call in stride(
            from: places.lowerBound, through: places.upperBound, by: Soak.isOn || action == .kill ? 1 : 3)
        {
            try await round(action, call)
        }
    }

    private func copy(_ name: String) throws -> FilePath {
        let inbox = scratch.path.appending(name)
        try FileManager.default.copyItem(atPath: template.string, toPath: inbox.string)
        return inbox
    }

    private func round(_ action: FaultShim.Action, _ call: Int) async throws {
        let inbox = try copy("\(UUID())")
        defer { try? Folder.removeTree(at: inbox) }
        let comment: Comment = "\(action) at \(call)"
        let receive = ["receive", "--into", inbox.string, "--from"]
        let log = scratch.path.appending("calls-\(UUID())")
        let end = try await BuiltProgram.run(
            receive + [shipments[1].string], environment: FaultShim.environment(action, at: call, log: log))
        let isNew = ShipmentSample.current(of: inbox) == 2
        if end.status == .exited(0) { #expect(isNew, comment) }
        // What is current says by itself what has been here.
        let old = try await BuiltProgram.run(receive + [shipments[0].string])
        #expect(old.status == .exited(isNew ? 77 : 0), "\(comment) \(old.stderr)")
        #expect(ShipmentSample.current(of: inbox) == (isNew ? 2 : 1), comment)
        // The shipment that was cut off comes in, or is there already; and then the old one is an old one.
        try await BuiltProgram.expectSuccess(receive + [shipments[1].string], comment)
        #expect(ShipmentSample.current(of: inbox) == 2, comment)
        #expect(try await BuiltProgram.run(receive + [shipments[0].string]).status == .exited(77), comment)
        // Also once somebody has gone back.
        try await BuiltProgram.expectSuccess(["rollback", "Recipes", "--into", inbox.string], comment)
        #expect(try await BuiltProgram.run(receive + [shipments[0].string]).status == .exited(77), comment)
        #expect(try Folder.names(in: inbox.appending(".ship-store/Recipes/staging")) == [], comment)
    }

    @Test(arguments: [FaultShim.Action.kill, .eio])
    func `a sender that stops at any call uses no number twice`(action: FaultShim.Action) async throws {
        var (call, last, isThere) = (1, 2, true)
        let file = scratch.path.appending("next.shipment")
        let send = ["send", source.string, "--to", file.string, "--identity", device]
        while isThere {
            let log = scratch.path.appending("calls-\(UUID())")
            let end = try await BuiltProgram.run(send, environment: FaultShim.environment(action, at: call, log: log))
            let calls = FaultShim.calls(in: log)
            isThere = calls.count >= call
            let comment: Comment = "\(action) at \(call)"
            if (try? PlatformCalls.status(of: file)) != nil {
                let number = try await counter(of: file)
                #expect(number > last, comment)
                last = number
                try PlatformCalls.removeFile(file)
            } else {
                #expect(end.status != .exited(0), comment)
            }
            // The number is durable before anything is written that carries it.
            if !isThere {
                #expect(end.status == .exited(0))
                let renamed = try #require(calls.firstIndex { $0.target?.hasSuffix("/counter") == true })
                let synced = try #require(calls[renamed...].firstIndex { $0.name.contains("sync") })
                let written = try #require(calls.lastIndex { $0.target?.hasSuffix("next.shipment") == true })
                #expect(renamed < synced && synced < written)
                #expect(calls[..<renamed].contains { $0.name.contains("sync") && $0.path.hasSuffix("/.new") })
            }
            call += Soak.isOn ? 1 : action == .kill ? 2 : 5
        }
        #expect(call > 10)
    }

    private func counter(of file: FilePath) async throws -> Int {
        let outcome = try await BuiltProgram.run(["verify", file.string, "--json"])
        let line = try JSONSerialization.jsonObject(with: Data(outcome.stdout.utf8)) as? [String: Any]
        return (line?["manifest"] as? [String: Any])?["counter"] as? Int ?? 0
    }
}
