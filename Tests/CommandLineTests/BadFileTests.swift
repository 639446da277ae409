import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A shipment in a file that is not what `send` wrote: the data is bad, and there is nobody who could have broken a protocol.
@Suite struct BadFileTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore(rows: 2000)
    }

    private static let anew = "have it made anew with `ship-store send --to FILE`"

    @Test func `cut anywhere, or damaged anywhere, it is 65`() async throws {
        let whole = try await desk.shipment()
        var random = RepeatableRandom(seed: 5)
        let cuts = [1, 8, 15, 16, 17, 40, whole.count / 2, whole.count - 1].map { Array(whole[..<$0]) }
        let damaged = (0..<8).map { _ in
            var bytes = whole
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            return bytes
        }
        for bytes in cuts + damaged + [[]] {
            let file = desk.scratchFile("shipment")
            try OpenFile.creating(file).write(bytes)
            for arguments in [
                ["receive", "--into", "inbox", "--from", file.string], ["verify", file.string],
                ["inspect", file.string],
            ] {
                // Nothing at all is an empty store.
                if bytes.isEmpty, arguments[0] != "receive" { continue }
                let outcome = try await desk.run(arguments)
                #expect(outcome.status == .exited(65), "\(arguments) of \(bytes.count): \(outcome.stderr)")
            }
            let piped = try await desk.shell("$SHIP receive --into inbox --from - < \(file)")
            #expect(piped.status == .exited(65), "\(piped.stderr)")
        }
        #expect(try desk.leftovers == [])
    }

    @Test func `it says what is wrong with the file`() async throws {
        let whole = try await desk.shipment()
        try OpenFile.creating(desk["cut"]).write(Array(whole.dropLast(10)))
        for arguments in [["receive", "--into", "inbox", "--from", "./cut"], ["inspect", "cut"]] {
            try await desk.run(arguments).expectFailure(
                65, "the file ends early: the shipment is not whole", hint: Self.anew)
        }
        try OpenFile.creating(desk["unended"]).write(Array(whole.dropLast()))
        try await desk.run("receive", "--into", "inbox", "--from", "./unended").expectFailure(
            65, "the file ends early, between two shipments: more may have been in it", hint: Self.anew)
        try OpenFile.creating(desk["longer"]).write(Array(whole) + Array("junk\n".utf8))
        try await desk.run("receive", "--into", "inbox", "--from", "./longer").expectFailure(
            65, "the file goes on after its end, and what follows was not received",
            hint: "send several stores with one `ship-store send`, or receive each by itself")
        try await desk.run("receive", "--into", "inbox", "--from", "./Recipes.sqlite").expectFailure(
            65, "the file is no shipment", hint: "give what `ship-store send` wrote, unchanged and uncompressed")
        // A pipe has somebody at its other end.
        let piped = try await desk.shell("cat cut | $SHIP receive --into inbox --from -")
        #expect(piped.status == .exited(76))
    }

    @Test func `what the system says has a hint`() async throws {
        try await desk.shell(": > file").expectSuccess()
        try await desk.run("copies", "--in", "nowhere").expectFailure(
            66, "cannot list the folder nowhere: No such file or directory", hint: "check the path")
        try await desk.run("copy", "Recipes.sqlite", "--to", "file/copies").expectFailure(
            73, "cannot make the folder file/copies: Not a directory",
            hint: "a part of the path is a file, not a folder: choose another path")
    }
}
