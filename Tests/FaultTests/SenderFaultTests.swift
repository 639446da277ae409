import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A sender dies, or is let down by the system, at any of its calls.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct SenderFaultTests {
    private let sample: ShipmentSample

    init() async throws {
        sample = try await ShipmentSample(in: .inMemory())
    }

    @Test(arguments: FaultShim.Action.faults)
    func `a sender that ends at any call leaves the source as it was, and the next one tidies up`(
        action: FaultShim.Action
    ) async throws {
        let temporary = try sample.scratch.folder("temporary")
        let home = sample.source.removingLastComponent()
        let before = try listing(of: home)
        let step = Soak.isOn ? 1 : 5
        var call = 1
        var isThereSuchACall = true
        while isThereSuchACall {
            let comment: Comment = "\(action) at \(call)"
            let (out, log) = (
                try sample.scratch.folder("out \(call)"), sample.scratch.path.appending("calls \(call)")
            )
            let shipment = out.appending("a.shipment")
            let outcome = try await send(to: shipment, temporary, FaultShim.environment(action, at: call, log: log))
            let calls = FaultShim.calls(in: log)
            isThereSuchACall = calls.count >= call
            let fault = isThereSuchACall ? calls[call - 1] : nil
            defer { call += step }
            let isThere = (try? PlatformCalls.status(of: shipment)) != nil
            switch outcome.status {
            case .exited(0): #expect(isThere, comment)
            case .signalled(SIGKILL) where action == .kill: break
            // 74: for what SQLite does not say that it is for want of room.
            case .exited(73) where action != .kill, .exited(74) where action != .kill:
                #expect(!isThere || fault?.name == "fsync", comment)
            case .exited, .signalled: Issue.record("\(outcome.status) \(comment) \(outcome.stderr)")
            }
            // What cannot be removed stays for the next one.
            if action != .kill, !(fault.map { ["unlink", "unlinkat", "rmdir"].contains($0.name) } ?? false) {
                #expect(try Folder.names(in: out) == (isThere ? ["a.shipment"] : []), comment)
                #expect(try Folder.names(in: temporary) == [], comment)
            }
            // A shipment that is there is whole.
            if isThere {
                try await BuiltProgram.expectSuccess(["verify", shipment.string], comment)
            }
            let now = try listing(of: home)
            #expect(now.map(\.name) == before.map(\.name) && now.map(\.sha256) == before.map(\.sha256), comment)

            let next = try await send(to: shipment, temporary, [:])
            #expect(next.status == .exited(0), "\(comment) \(next.stderr)")
            #expect(try Folder.names(in: temporary) == [], comment)
            #expect(try Folder.names(in: out) == ["a.shipment"], comment)
            #expect(try listing(of: home) == before, comment)
        }
        #expect(call > 20, "the shim counts almost nothing")
    }

    @Test func `a sender that is killed at any call leaves the shipment that was there, or the new one`() async throws {
        let temporary = try sample.scratch.folder("temporary")
        let out = try sample.scratch.folder("out")
        let shipment = out.appending("a.shipment")
        try #require(try await send(to: shipment, temporary, [:]).status == .exited(0))
        let step = Soak.isOn ? 1 : 5
        var (call, replaced) = (1, 0)
        while true {
            let before = try OpenFile.reading(shipment).status.identity
            let log = sample.scratch.path.appending("calls of the second \(call)")
            let outcome = try await send(to: shipment, temporary, FaultShim.environment(.kill, at: call, log: log))
            #expect(try Folder.names(in: out).contains("a.shipment"), "at \(call)")
            try await BuiltProgram.expectSuccess(["verify", shipment.string], "at \(call)")
            if try OpenFile.reading(shipment).status.identity != before { replaced += 1 }
            if outcome.status == .exited(0) { break }
            call += step
        }
        #expect(call > 20 && replaced >= 1)
        #expect(try Folder.names(in: out) == ["a.shipment"])
    }

    /// Without the sidecars: SQLite makes them for whoever reads a store in WAL mode, and they stay when it is killed.
    private func listing(of home: FilePath) throws -> [FolderListing.Entry] {
        try FolderListing(of: home).entries.filter { !$0.name.hasSuffix("-shm") && !$0.name.hasSuffix("-wal") }
    }

    private func send(
        to shipment: FilePath, _ temporary: FilePath, _ environment: [String: String]
    ) async throws -> ChildProgram.Outcome {
        try await BuiltProgram.run(
            ["send", sample.source.string, "--to", shipment.string],
            environment: environment.merging(["TMPDIR": temporary.string]) { $1 })
    }
}
