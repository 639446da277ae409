import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A call is made, and only its answer is lost, as on a network.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct LostAnswerTests {
    @Test func `a link that is there is there, whatever the call said`() async throws {
        let scratch = try ScratchFolder.inMemory()
        for call in 1... {
            let (desk, log) = (try scratch.folder("\(call)"), scratch.path.appending("calls\(call)"))
            let store = desk.appending("Recipes.sqlite")
            try CoreDataSample(at: store).addEverything()
            let files = try CoreDataSample.files(beside: store)
            var environment = FaultShim.environment(.eio, at: call, only: ["linkat"], log: log)
            environment["SHIP_STORE_FAULT_WHEN"] = "after"
            try await BuiltProgram.expectSuccess(
                ["move", "Recipes.sqlite", "--to", "new", "--remove-old"], environment: environment, in: desk,
                "link \(call)")
            #expect(try CoreDataSample.files(beside: desk.appending("new/Recipes.sqlite")) == files, "link \(call)")
            #expect(try Folder.names(in: desk).filter { !$0.hasPrefix("tmp") } == ["new"], "link \(call)")
            // The first without a fault ends it.
            guard FaultShim.calls(in: log).count >= call else { return #expect(call > 2) }
        }
    }
}
