import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// What lies in an inbox, or in a folder of kept copies, never changes, by whatever name it is called.
@Suite struct KeptPlaceTests {
    private let desk: Desk

    /// `Recipes.sqlite`, and what it has been received and kept as.
    init() async throws {
        desk = try Desk()
        let sample = try CoreDataSample(at: desk["Recipes.sqlite"])
        try sample.addEverything()
        try await desk.shell(
            """
            "$SHIP" send Recipes.sqlite --to a.shipment -q; "$SHIP" receive --into inbox --from a.shipment -q
            "$SHIP" copy Recipes.sqlite --keep-in kept -q
            """
        ).expectSuccess()
    }

    @Test func `no file gets into an inbox, by whatever name`() async throws {
        let names = try Folder.names(in: desk["inbox"])
        for way in [
            ["copy", "Recipes.sqlite", "--to", "inbox"],
            ["copy", "Recipes.sqlite", "--to", "inbox", "--as", "Other.sqlite"],
        ] {
            let outcome = try await desk.run(way)
            #expect(outcome.status == .exited(64), "\(outcome.stderr)")
        }
        #expect(try Folder.names(in: desk["inbox"]) == names)
    }

    /// A command that fails makes no inbox: into one no copy is kept any more.
    @Test(arguments: [
        "receive --from ./typo.shipment", "receive --from unix:nobody",
        "receive --from ./hello", "receive --listen unix:\(String(repeating: "x", count: 200))",
        "adopt Odd.base.sqlite",
    ])
    func `what comes to nothing makes no inbox`(line: String) async throws {
        try await desk.shell("echo hello > hello").expectSuccess()
        try desk.makeStore("Odd.base.sqlite")
        for folder in ["kept", "new/deep"] {
            let outcome = try await desk.run(line.split(separator: " ").map(String.init) + ["--into", folder])
            #expect(outcome.status != .exited(0), "\(line) \(outcome.stderr)")
        }
        #expect(try Folder.names(in: desk["kept"]).allSatisfy { $0.hasPrefix("Recipes-") })
        #expect(try !PlatformCalls.isThere(desk["new"]))
        try await desk.run("copy", "Recipes.sqlite", "--keep-in", "kept").expectSuccess()
    }

    /// What a user may call a generation or a kept copy, and how it comes to be called so.
    enum Place: String, CaseIterable, Sendable {
        case publicLink, current, generation, linkToLink, renamedInbox, renamedDepot, hardLink, kept, renamedKept
        case damagedManifest

        var preparation: String {
            switch self {
            case .publicLink, .current, .generation: ":"
            case .linkToLink: "ln -s inbox/Recipes.sqlite one; ln -s one Link.sqlite"
            case .renamedInbox: "mv inbox box"
            case .renamedDepot: "mv inbox/.ship-store inbox/depot"
            case .hardLink: "ln inbox/.ship-store/Recipes/generations/*/Recipes.sqlite Hard.sqlite"
            case .kept: "mv kept/Recipes-* kept/Recipes-20261120T190405"
            case .renamedKept: "mv kept/Recipes-* mine"
            case .damagedManifest:
                "cd inbox/.ship-store/Recipes/generations/*; chmod 600 manifest.json; echo > manifest.json"
            }
        }

        var path: String {
            switch self {
            case .publicLink, .damagedManifest: "inbox/Recipes.sqlite"
            case .current: "inbox/.ship-store/Recipes/current/Recipes.sqlite"
            case .generation: "inbox/.ship-store/Recipes/generations/GENERATION/Recipes.sqlite"
            case .linkToLink: "Link.sqlite"
            case .renamedInbox: "box/Recipes.sqlite"
            case .renamedDepot: "inbox/depot/Recipes/current/Recipes.sqlite"
            case .hardLink: "Hard.sqlite"
            case .kept: "kept/Recipes-20261120T190405/Recipes.sqlite"
            case .renamedKept: "mine/Recipes.sqlite"
            }
        }
    }

    @Test(arguments: Place.allCases)
    func `it is not destroyed, moved away, restored over or given metadata`(place: Place) async throws {
        try await desk.shell(place.preparation).expectSuccess()
        let generation = try Folder.names(
            in: desk[place == .renamedInbox ? "box" : "inbox"]
                .appending(place == .renamedDepot ? "depot" : ".ship-store").appending("Recipes/generations")
        ).first
        let path = place.path.replacingOccurrences(of: "GENERATION", with: generation ?? "")
        let before = try FolderListing(of: desk.path)
        for arguments in [
            ["destroy", path], ["destroy", path, "--dry-run"], ["move", path, "--to", "g", "--remove-old"],
            ["metadata", path, "--set", "a=b"], ["restore", "Recipes.sqlite", "--over", path, "--any-identity"],
        ] {
            let outcome = try await desk.run(arguments)
            #expect(outcome.status == .exited(64), "\(arguments) \(outcome.stderr)")
            #expect(outcome.complaints.count == 2, "\(arguments) \(outcome.stderr)")
            #expect(try FolderListing(of: desk.path) == before, "\(arguments)")
        }
    }

    @Test func `each refusal names the command that is meant`() async throws {
        let generation = try PlatformCalls.realPath(of: desk["inbox/Recipes.sqlite"])
        let inbox = desk["inbox"]
        let words = "\(generation) is a generation of the inbox \(inbox), and never changes"
        let forget = "`ship-store forget Recipes --into \(inbox)` removes it with all its generations"
        let link = "inbox/Recipes.sqlite"
        try await desk.run("destroy", link).expectFailure(64, words, hint: forget)
        try await desk.run("move", link, "--to", "g", "--remove-old").expectFailure(64, words, hint: forget)
        try await desk.run("restore", "Recipes.sqlite", "--over", link).expectFailure(
            64, words, hint: "`ship-store rollback Recipes --into \(inbox)` goes back to an older generation")
        try await desk.run("metadata", link, "--set", "a=b").expectFailure(
            64, words, hint: "set it where the store is sent from, or say `ship-store send --meta KEY=VALUE`")
        let kept = try desk["kept"].appending(#require(try Folder.names(in: desk["kept"]).first))
        try await desk.run("destroy", kept.appending("Recipes.sqlite").string).expectFailure(
            64, "\(kept)/Recipes.sqlite is a kept copy, and never changes",
            hint: "`ship-store copies --in \(desk["kept"]) --prune` removes kept copies")
    }

    @Test func `a store is not moved over one of an inbox, and no copy replaces a generation`() async throws {
        let before = try FolderListing(of: desk["inbox"])
        for arguments in [
            ["move", "Recipes.sqlite", "--to", "inbox", "--replace"],
            ["copy", "Recipes.sqlite", "--to", "inbox", "--as", "Recipes"],
            ["copy", "Recipes.sqlite", "--to", "inbox/.ship-store/Recipes/current", "--as", "Recipes"],
        ] {
            let outcome = try await desk.run(arguments)
            #expect(outcome.status == .exited(64), "\(arguments) \(outcome.stderr)")
            #expect(try FolderListing(of: desk["inbox"]) == before, "\(arguments)")
        }
    }

    @Test(arguments: ["inbox/Recipes.sqlite", "inbox/.Recipes_SUPPORT", "inbox/.ship-store/Recipes/mine"])
    func `no shipment takes the place of what is an inbox's`(target: String) async throws {
        let before = try FolderListing(of: desk["inbox"])
        for options in [[], ["--force"], ["--force", "--dry-run"]] {
            let outcome = try await desk.run(["send", "Recipes.sqlite", "--to", target] + options)
            #expect(outcome.status == .exited(64), "\(outcome.stderr)")
            #expect(outcome.complaints.last == "ship-store: hint: name another file")
        }
        #expect(try FolderListing(of: desk["inbox"]) == before)
        try await desk.run("send", "Recipes.sqlite", "--to", "inbox/mine.shipment").expectSuccess()
    }

    @Test(arguments: ["inbox/.ship-store", "inbox/.ship-store/Recipes/new", "depot", "depot/new", "inbox"])
    func `nothing is put where an inbox keeps its own files`(folder: String) async throws {
        try await desk.shell("ln -s inbox/.ship-store depot").expectSuccess()
        let before = try FolderListing(of: desk["inbox"])
        let words = "\(folder) belongs to the inbox \(desk["inbox"]), which keeps its own files there"
        for arguments in [
            ["send", "Recipes.sqlite", "--to", "dir:\(folder)"], ["copy", "Recipes.sqlite", "--to", folder],
            ["copy", "Recipes.sqlite", "--keep-in", folder], ["move", "Recipes.sqlite", "--to", folder],
        ] {
            try await desk.run(arguments).expectFailure(64, words, hint: "name another folder")
        }
        #expect(try FolderListing(of: desk["inbox"]) == before)
    }

    @Test func `figures take no name of an inbox's own files`() async throws {
        let before = try FolderListing(of: desk["inbox"])
        try await desk.run(
            "receive", "--into", "other", "--from", "a.shipment", "--metrics", "inbox/.ship-store/figures"
        ).expectFailure(
            64,
            "\(desk["inbox"])/.ship-store/figures belongs to the inbox \(desk["inbox"]), which keeps its own files there",
            hint: "name another file")
        #expect(try FolderListing(of: desk["inbox"]) == before)
    }

    @Test func `a user's own store beside an inbox is the user's own`() async throws {
        try desk.makeStore("inbox/Own.sqlite")
        try await desk.run("metadata", "inbox/Own.sqlite", "--set", "a=b").expectSuccess()
        try await desk.run("destroy", "inbox/Own.sqlite").expectSuccess()
    }

    @Test func `a store is copied out of an inbox as ever`() async throws {
        try await desk.run("move", "inbox/Recipes.sqlite", "--to", "g").expectSuccess()
        #expect(try StoreContent(of: desk["g/Recipes.sqlite"]) == StoreContent(of: desk["inbox/Recipes.sqlite"]))
        try await desk.run("metadata", "g/Recipes.sqlite", "--set", "a=b").expectSuccess()
    }
}
