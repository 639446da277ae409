import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A support folder goes by a stem that several stores may share: what is one's own is what its rows refer to, and no
/// other's.
@Suite struct SupportFolderTests {
    private let desk: Desk
    private let recipes: CoreDataSample
    private let files: [String: Data]

    /// `Recipes.sqlite` with external files.
    init() throws {
        desk = try Desk()
        recipes = try CoreDataSample(at: desk["Recipes.sqlite"])
        try recipes.addEverything()
        files = try CoreDataSample.files(beside: recipes.path)
    }

    private var found: [String: Data] { get throws { try CoreDataSample.files(beside: recipes.path) } }

    /// A store of Core Data's with one photo of its own.
    private func makeNeighbour(_ name: String) throws -> String {
        let uuid = try CoreDataSample(at: desk[name]).addPhoto(key: 7, content: Data("neighbour".utf8))
        return "_EXTERNAL_DATA/\(uuid)"
    }

    // MARK: What is not there has no remains

    @Test(arguments: ["Recipes", "Recipes.db", ".Recipes_SUPPORT.sqlite"])
    func `destroying a store that is not there removes nothing`(name: String) async throws {
        let before = try FolderListing(of: desk.path)
        try await desk.run("destroy", name).expectFailure(
            66, "there is no store at \(name)", hint: "check the path")
        #expect(try FolderListing(of: desk.path) == before)
    }

    @Test func `moving a store that is not there removes nothing, although there is one of its name at the new place`()
        async throws
    {
        try PlatformCalls.makeFolder(desk["g"])
        try desk.makeStore("g/Recipes")
        let before = try FolderListing(of: desk.path)
        try await desk.run("move", "Recipes", "--to", "g", "--remove-old").expectFailure(
            66, "there is no store at Recipes", hint: "check the path")
        #expect(try FolderListing(of: desk.path) == before)
    }

    // MARK: Neighbours

    @Test(arguments: [["destroy", "Recipes.db"], ["move", "Recipes.db", "--to", "g", "--remove-old"]])
    func `a store that goes leaves the files of one that has its stem`(arguments: [String]) async throws {
        try desk.makeStore("Recipes.db")
        let content = try StoreContent(of: recipes.path)
        let outcome = try await desk.run(arguments).expectSuccess()
        #expect(outcome.stderr.contains("more stay: \(recipes.path) refers to them"))
        #expect((try? PlatformCalls.status(of: desk["Recipes.db"])) == nil)
        #expect(try found == files)
        #expect(try StoreContent(of: recipes.path) == content)
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: [["destroy", "Recipes.db"], ["move", "Recipes.db", "--to", "g", "--remove-old"]])
    func `a store that goes takes its own files out of a shared folder, and only these`(
        arguments: [String]
    ) async throws {
        let own = try makeNeighbour("Recipes.db")
        #expect(try found[own] != nil)
        // A file that nobody refers to may be of a commit that is still to come.
        let stray = recipes.file("_EXTERNAL_DATA", UUID().uuidString)
        try Data("stray".utf8).write(to: URL(fileURLWithPath: stray.string))
        let outcome = try await desk.run(arguments)
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(outcome.complaints == ["ship-store: warning: \(stray) stays: no store refers to it"])
        var expected = files
        expected["_EXTERNAL_DATA/\(stray.lastComponent?.string ?? "")"] = Data("stray".utf8)
        #expect(try found == expected)
        if arguments[0] == "move" {
            #expect(try CoreDataSample.files(beside: desk["g/Recipes.db"]) == [own: Data("neighbour".utf8)])
        }
    }

    @Test func `a file to which two stores refer stays`() async throws {
        let shared = try makeNeighbour("Recipes.db")
        let uuid = String(shared.split(separator: "/")[1])
        try recipes.add(key: 99, cell: CoreDataSample.reference(2, uuid))
        try await desk.run("destroy", "Recipes.db").expectSuccess()
        #expect(try found[shared] == Data("neighbour".utf8))
    }

    /// How a neighbour can be unreadable.
    enum Trouble: String, CaseIterable, Sendable { case header, pages, otherName, danglingLink }

    @Test(arguments: Trouble.allCases)
    func `where the rows of a neighbour cannot be read, everything stays and is told`(trouble: Trouble) async throws {
        let neighbour = desk["Recipes.db"]
        switch trouble {
        case .header:
            try Data([0] + Data("QLite format 3".utf8) + [0] + Data(repeating: 7, count: 5000))
                .write(to: URL(fileURLWithPath: neighbour.string))
        case .pages:
            try FileManager.default.copyItem(atPath: recipes.path.string, toPath: neighbour.string)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: neighbour.string))
            try handle.seek(toOffset: 100)
            try handle.write(contentsOf: Data(repeating: 0xff, count: 8000))
            try handle.close()
        case .otherName: try PlatformCalls.hardLink(recipes.path, as: neighbour)
        case .danglingLink: try PlatformCalls.symbolicLink(at: neighbour, to: "unmounted/Recipes.db")
        }
        let outcome = try await desk.run("destroy", "Recipes.sqlite")
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(outcome.complaints.count == 1)
        #expect(
            outcome.complaints.first?.contains("\(neighbour) may refer to them, and its rows cannot be read") == true)
        #expect(try found == files)
        #expect((try? PlatformCalls.status(of: recipes.path)) == nil)
    }

    @Test func `where its own rows cannot be read, everything stays and is told`() async throws {
        try await desk.shell("dd if=/dev/zero of=Recipes.sqlite bs=4096 seek=1 count=20 conv=notrunc status=none")
            .expectSuccess()
        let outcome = try await desk.run("destroy", "Recipes.sqlite")
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(outcome.stderr.contains("\(recipes.path) may refer to them, and its rows cannot be read"))
        #expect(try found == files)
    }

    @Test func `what is plainly no store is no neighbour`() async throws {
        try await desk.shell("echo '{}' > Recipes.json; : > Recipes.db").expectSuccess()
        try await desk.run("send", "Recipes.sqlite", "--to", "Recipes.shipment", "--quiet").expectSuccess()
        try await desk.run("destroy", "Recipes.sqlite").expectSuccess()
        #expect(try Folder.names(in: desk.path) == ["Recipes.db", "Recipes.json", "Recipes.shipment"])
    }

    @Test func `a link in the place of a support folder is not followed`() async throws {
        let real = desk["elsewhere"]
        try PlatformCalls.rename(recipes.supportFolder, to: real)
        try PlatformCalls.symbolicLink(at: recipes.supportFolder, to: "elsewhere")
        let before = try FolderListing(of: real)
        try await desk.run("destroy", "Recipes.sqlite").expectSuccess()
        #expect(try FolderListing(of: real) == before)
    }

    @Test func `a link in the place of a folder in it is not followed`() async throws {
        let (real, link) = (desk["elsewhere"], recipes.supportFolder.appending("_EXTERNAL_DATA"))
        try PlatformCalls.rename(link, to: real)
        try PlatformCalls.symbolicLink(at: link, to: "../elsewhere")
        let before = try FolderListing(of: real)
        try await desk.run("metadata", "Recipes.sqlite", "--set", "kitchen=upstairs").expectSuccess()
        let outcome = try await desk.run("destroy", "Recipes.sqlite")
        #expect(outcome.status == .exited(0) && outcome.stderr.contains("_EXTERNAL_DATA stays"), "\(outcome.stderr)")
        #expect(try FolderListing(of: real) == before)
        #expect(try Folder.names(in: desk.path) == [".Recipes_SUPPORT", "elsewhere"])
    }

    // MARK: Copies

    @Test func `a copy that has the stem of its store never removes the store's files`() async throws {
        let copy = ["copy", "Recipes.sqlite", "--to", ".", "--as", "Recipes.bak", "--without-external-over", "1"]
        for _ in 1...2 {
            try await desk.run(copy).expectSuccess()
            #expect(try found == files)
        }
    }

    @Test func `a copy is not put into a support folder that another store uses`() async throws {
        let before = try FolderListing(of: desk.path)
        try await desk.run("copy", "Recipes.sqlite", "--to", ".", "--as", "Recipes.bak").expectFailure(
            73, "./.Recipes_SUPPORT is the folder of external files of ./Recipes.sqlite",
            hint: "choose a name of another stem: one that differs before its extension")
        #expect(try FolderListing(of: desk.path) == before)
        try PlatformCalls.makeFolder(desk["g"])
        try CoreDataSample(at: desk["g/Recipes.db"]).addPhoto(key: 1, content: Data("other".utf8))
        let there = try FolderListing(of: desk["g"])
        let move = try await desk.run("move", "Recipes.sqlite", "--to", "g", "--remove-old")
        #expect(move.status == .exited(73))
        #expect(try FolderListing(of: desk["g"]) == there)
        #expect(try found == files)
    }

    @Test func `an update removes what only the older copy referred to`() async throws {
        let copy = ["copy", "Recipes.sqlite", "--to", "copies", "--as", "latest"]
        try await desk.run(copy).expectSuccess()
        let support = desk["copies/.latest_SUPPORT"]
        let stray = support.appending("_EXTERNAL_DATA").appending(UUID().uuidString)
        try Data("stray".utf8).write(to: URL(fileURLWithPath: stray.string))
        try TestStore.make(at: recipes.path, sql: "DELETE FROM ZPHOTO WHERE Z_PK = 62")
        try await desk.run(copy).expectSuccess()
        let left = try CoreDataSample.files(beside: desk["copies/latest.sqlite"])
        #expect(left.count == 2 && left.values.contains(Data("stray".utf8)))
        #expect(try desk.leftovers == [])
    }

    @Test func `a copy does not take the place of another store without identity`() async throws {
        try desk.makeStore("Plain.sqlite")
        try TestStore.make(at: desk["Other.sqlite"], sql: "CREATE TABLE tea(a); INSERT INTO tea VALUES (1)")
        let before = try StoreContent(of: desk["Other.sqlite"])
        try await desk.run("copy", "Plain.sqlite", "--to", ".", "--as", "Other").expectFailure(
            73, "./Other.sqlite is in the way: nothing shows that it is an older copy", hint: "move it away")
        #expect(try StoreContent(of: desk["Other.sqlite"]) == before)
    }

    @Test func `a store that is called as a sidecar is no sidecar`() async throws {
        try desk.makeStore("Plain.sqlite-journal")
        let before = try StoreContent(of: desk["Plain.sqlite-journal"])
        try TestStore.make(at: desk["Made.sqlite"], sql: "CREATE TABLE t(a)")
        try PlatformCalls.rename(desk["Made.sqlite"], to: desk["Plain.sqlite"])
        for arguments in [
            ["destroy", "Plain.sqlite"], ["restore", "Recipes.sqlite", "--over", "Plain.sqlite", "--any-identity"],
        ] {
            try await desk.run(arguments).expectFailure(
                73,
                "\(desk["Plain.sqlite-journal"]) has the name of a part of \(desk["Plain.sqlite"]), and SQLite takes it for one",
                hint: "if it is a store, give it another name; if it is a part of \(desk["Plain.sqlite"]), name that")
        }
        #expect(try StoreContent(of: desk["Plain.sqlite-journal"]) == before)
    }

    @Test func `a restore leaves the files of a neighbour`() async throws {
        try await desk.run("copy", "Recipes.sqlite", "--keep-in", "kept").expectSuccess()
        let kept = try #require(try Folder.names(in: desk["kept"]).first)
        let own = try recipes.addPhoto(key: 80, content: Data("own".utf8))
        let shared = try recipes.addPhoto(key: 81, content: Data("shared".utf8))
        try CoreDataSample(at: desk["Recipes.db"]).add(key: 1, cell: CoreDataSample.reference(2, shared))
        try await desk.run("restore", "kept/\(kept)", "--over", "Recipes.sqlite").expectSuccess()
        #expect(try found["_EXTERNAL_DATA/\(own)"] == nil)
        #expect(try found["_EXTERNAL_DATA/\(shared)"] == Data("shared".utf8))
    }

    // MARK: Other files of the folder

    @Test(arguments: [true, false])
    func `what is no UUID travels with its store`(removesOld: Bool) async throws {
        try await desk.shell(
            "cd .Recipes_SUPPORT; echo thumb > _EXTERNAL_DATA/thumb.jpg; mkdir -p own/deep; echo note > own/deep/note"
        )
        .expectSuccess()
        let all = try found
        try await desk.run(["move", "Recipes.sqlite", "--to", "g"] + (removesOld ? ["--remove-old"] : []))
            .expectSuccess()
        #expect(try CoreDataSample.files(beside: desk["g/Recipes.sqlite"]) == all)
        if removesOld { #expect(try Folder.names(in: desk.path) == ["g"]) } else { #expect(try found == all) }
        #expect(try desk.leftovers == [])
    }

    @Test func `what is no UUID stays where a neighbour may want it, and replaces nothing`() async throws {
        try await desk.shell("echo mine > .Recipes_SUPPORT/note; mkdir -p h/.Recipes_SUPPORT").expectSuccess()
        try await desk.shell("echo theirs > h/.Recipes_SUPPORT/note").expectSuccess()
        let blocked = try await desk.run("move", "Recipes.sqlite", "--to", "h", "--remove-old")
        #expect(blocked.status == .exited(73))
        #expect(blocked.complaints.first?.contains("h/.Recipes_SUPPORT/note is in the way") == true)
        #expect(try CoreDataSample.files(beside: desk["h/Recipes.sqlite"]) == ["note": Data("theirs\n".utf8)])
        _ = try CoreDataSample(at: desk["Recipes.db"])
        let moved = try await desk.run("move", "Recipes.sqlite", "--to", "g", "--remove-old")
        #expect(moved.status == .exited(0), "\(moved.stderr)")
        #expect(try found == ["note": Data("mine\n".utf8)])
        #expect(try CoreDataSample.files(beside: desk["g/Recipes.sqlite"])["note"] == Data("mine\n".utf8))
    }
}
