import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// An adoption dies, or is let down by the system, at every call that changes anything. Whatever happens, the inbox has no generation, or
/// the adopted one whole; the file that it is made of stays as it is; and the next adoption works.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct AdoptionFaultTests {
    private let sample: ShipmentSample
    private let base: FilePath

    init() async throws {
        sample = try await ShipmentSample(in: .inMemory())
        base = try sample.scratch.folder("App").appending("Recipes.base.sqlite")
        try await BuiltProgram.expectSuccess([
            "copy", sample.source.string, "--to", base.removingLastComponent().string, "--as", "Recipes.base.sqlite",
        ])
    }

    @Test(arguments: [FaultShim.Action.kill, .eio, .enospc])
    func `an adoption that stops at any call was made, or was not`(action: FaultShim.Action) async throws {
        let before = try PlatformCalls.status(of: base)
        // The short form leaves out calls.
        let step = Soak.isOn ? 1 : action == .kill ? 2 : 7
        var call = 1
        while try await round(action, call) { call += step }
        #expect(call > 20, "the shim counts almost nothing")
        #expect(try PlatformCalls.status(of: base) == before)
    }

    /// - Returns: Whether there was such a call.
    private func round(_ action: FaultShim.Action, _ call: Int) async throws -> Bool {
        let place = try sample.scratch.folder("\(UUID())")
        defer { try? Folder.removeTree(at: place) }
        let (inbox, log, temporary) = (
            place.appending("inbox"), place.appending("calls"), try sample.scratch.folder("temporary-\(UUID())")
        )
        let adopt = ["adopt", base.string, "--into", inbox.string]
        let comment: Comment = "\(action) at \(call)"
        let environment = FaultShim.environment(action, at: call, log: log).merging(["TMPDIR": temporary.string]) { $1 }
        let outcome = try await BuiltProgram.run(adopt, environment: environment)
        let calls = FaultShim.calls(in: log)
        let current = ShipmentSample.current(of: inbox)
        // The public name of a first generation comes last; it never leads to nothing.
        let isLinked = (try? PlatformCalls.status(of: inbox.appending("Recipes.sqlite"))) != nil
        if isLinked { sample.expect(inbox, serves: 2, "\(comment) \(outcome.stderr)") }
        switch outcome.status {
        case .exited(0): #expect(current == 1 && isLinked, comment)
        case .exited(73), .exited(74): #expect(current == 0, "\(comment) \(outcome.stderr)")
        case .signalled(SIGKILL): #expect(action == .kill, comment)
        // What the copy is taken with has failed.
        case .exited(65), .exited(66): #expect(action != .kill && current == 0, "\(comment) \(outcome.stderr)")
        default: Issue.record("\(outcome) \(comment)")
        }
        try await BuiltProgram.expectSuccess(adopt, environment: ["TMPDIR": temporary.string], comment)
        sample.expect(inbox, serves: 2, comment)
        try await BuiltProgram.expectSuccess(["verify", inbox.string], comment)
        #expect(try Folder.names(in: inbox.appending(".ship-store/Recipes/staging")) == [], comment)
        #expect(try Folder.names(in: temporary) == [], comment)
        return calls.count >= call
    }
}
