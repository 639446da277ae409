import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Older kernels, and some file systems, have no rename that refuses to replace anything.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct FreeNameTests {
    private let scratch: ScratchFolder
    private let desk: FilePath

    init() throws {
        scratch = try .inMemory()
        desk = try scratch.folder("desk")
        try CoreDataSample(at: desk.appending("Recipes.sqlite")).addEverything()
    }

    /// What copies that are made in the next seconds are called.
    private func nextNames() -> [String] {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "UTC")
        format.dateFormat = "yyyyMMdd'T'HHmmss"
        return (-1..<30).map { "Recipes-\(format.string(from: Date() + TimeInterval($0)))" }
    }

    private func copy(_ arguments: [String]) async throws -> String {
        let log = scratch.path.appending("calls\(UUID())")
        let outcome = try await BuiltProgram.expectSuccess(
            ["copy", "Recipes.sqlite"] + arguments,
            environment: FaultShim.environment(.enosys, at: 1, .onward, only: ["renameat2"], log: log), in: desk)
        #expect(!FaultShim.calls(in: log).isEmpty, "it does not try")
        return try #require(outcome.lines.first)
    }

    @Test func `a kept copy never takes the place of a folder, not even of an empty one`() async throws {
        let names = nextNames()
        for name in names { try Folder.make(desk.appending("kept").appending(name)) }
        let kept = try await copy(["--keep-in", "kept"])
        #expect(names.contains { kept == "kept/\($0)-2" }, "\(kept)")
        for name in names { #expect(try Folder.names(in: desk.appending("kept").appending(name)) == []) }
        try await BuiltProgram.expectSuccess(["verify", kept], in: desk)
    }

    @Test func `external files of a copy never take the place of a folder, not even of an empty one`() async throws {
        let names = nextNames()
        for name in names { try Folder.make(desk.appending("copies/.\(name)_SUPPORT")) }
        let path = try await copy(["--to", "copies"])
        #expect(names.contains { path == "copies/\($0)-2.sqlite" }, "\(path)")
        for name in names { #expect(try Folder.names(in: desk.appending("copies/.\(name)_SUPPORT")) == []) }
        #expect(
            try CoreDataSample.files(beside: desk.appending(path))
                == CoreDataSample.files(beside: desk.appending("Recipes.sqlite")))
    }
}
