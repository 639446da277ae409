import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// What another user of the same machine gets at: nobody, by the number 65534.
@Suite(
    .enabled("only root can become somebody else, who must be able to run the program") {
        await OtherUser.isAvailable()
    })
struct OtherUserTests {
    private let desk: Desk
    private let other: OtherUser

    init() async throws {
        desk = try Desk()
        try desk.makeStore()
        other = try await OtherUser(at: desk)
    }

    @Test func `an inbox is closed to other users`() async throws {
        try await desk.run("send", "Recipes.sqlite", "--to", "a.shipment", "-q").expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "a.shipment", "-q").expectSuccess()
        let inbox = desk["inbox"].string
        for arguments in [
            ["list", "--into", inbox], ["verify", inbox], ["prune", "--into", inbox, "--keep", "1"],
            ["rollback", "Recipes", "--into", inbox],
            ["receive", "--into", inbox, "--listen", "127.0.0.1:0", "--once"],
        ] {
            let outcome = try await other.run(arguments)
            #expect(outcome.status != .exited(0) && outcome.output.isEmpty, "\(arguments) \(outcome.stderr)")
            #expect(outcome.complaints.first?.hasPrefix("ship-store: error: ") == true, "\(outcome.stderr)")
        }
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `an inbox of another user is not received into`() async throws {
        let theirs = other.folder.appending("inbox")
        try await other.run(["receive", "--into", theirs.string, "--from", try await theirShipment(), "-q"])
            .expectSuccess()
        try await desk.run("receive", "--into", theirs.string, "--listen", "127.0.0.1:0").expectFailure(
            73, "\(theirs) belongs to another user (65534), who could change what is in it",
            hint: "receive as that user, or into a folder of your own")
    }

    @Test(arguments: [("WAL", true), ("WAL", false), ("DELETE", false)])
    func `what may not be written to is named, and not the disk`(mode: String, isTheirs: Bool) async throws {
        let (folder, store) = (desk["shown"], desk["shown/Tea.sqlite"])
        try PlatformCalls.makeFolder(folder)
        try TestStore.make(at: store, sql: "PRAGMA journal_mode = \(mode); CREATE TABLE t(a)")
        try await desk.shell("chmod 0755 shown; chmod 0644 shown/*; \(isTheirs ? "chown 65534 shown/*" : "")")
            .expectSuccess()
        for arguments in [["destroy"], ["move", "--to", "moved", "--remove-old"]] {
            try await other.run(arguments + [store.string]).expectFailure(
                77, "no permission to write to \(isTheirs ? folder : store)", hint: "run as a user who may write to it")
        }
    }

    @Test func `verify does not call damaged what its user may not read`() async throws {
        let theirs = other.folder.appending("inbox")
        try await other.run(["receive", "--into", theirs.string, "--from", try await theirShipment(), "-q"])
            .expectSuccess()
        let generation = try PlatformCalls.realPath(of: theirs.appending(".ship-store/Theirs/current"))
        try PlatformCalls.changeMode(of: generation.appending("Theirs.sqlite"), to: [])
        let outcome = try await other.run(["verify", theirs.string, "--json"])
        let object = try #require(try outcome.objects().first)
        #expect(object["isWhole"] as? Bool == false && object["isJudged"] as? Bool == false)
        #expect(outcome.status == .exited(77), "\(outcome.stderr)")
    }

    @Test func `others may not be let change an inbox`() async throws {
        let inbox = desk["inbox"]
        try PlatformCalls.makeFolder(inbox)
        try PlatformCalls.changeMode(of: inbox, to: [.ownerReadWriteExecute, .otherReadWriteExecute])
        try await desk.run("receive", "--into", inbox.string, "--listen", "127.0.0.1:0").expectFailure(
            73, "others than its owner may change what is in \(inbox)", hint: "close it with `chmod go-w \(inbox)`")
    }

    @Test func `a socket is for one user alone, even if its folder is opened later`() async throws {
        let folder = desk["closed"]
        try PlatformCalls.makeFolder(folder)
        let socket = folder.appending("socket")
        let receiver = try await desk.listen(on: "unix:\(socket)")
        let shut = try await other.run(["send", try await theirStore(), "--to", "unix:\(socket)"])
        #expect(shut.status != .exited(0) && shut.complaints.count > 0)
        try PlatformCalls.changeMode(
            of: folder, to: [.ownerReadWriteExecute, .groupReadWriteExecute, .otherReadWriteExecute])
        try PlatformCalls.changeMode(of: socket, to: [.ownerReadWrite, .otherReadWrite])
        let open = try await other.run(["send", try await theirStore(), "--to", "unix:\(socket)"])
        #expect(open.status != .exited(0) && open.complaints.count > 0, "\(open.stderr)")
        let stopped = try await receiver.stop()
        #expect(!stopped.stderr.contains("receiving"), "\(stopped.stderr)")
        #expect(try Folder.names(in: desk["inbox/.ship-store"]) == [".format", ".lock"])
        try await desk.run("send", "Recipes.sqlite", "--to", "unix:\(socket)").expectFailure()
    }

    @Test func `at a port nobody unknown gets in once somebody is trusted`() async throws {
        let phone = try await desk.id(of: "phone")
        try await desk.run("trust", phone, "--identity", "watch", "-q").expectSuccess()
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        for more in [[], ["--identity", other.folder.appending("device").string]] {
            let sent = try await other.run(["send", try await theirStore(), "--to", receiver.address] + more)
            #expect(sent.status == .exited(77), "\(sent.stderr)")
        }
        // With this device's own folder they get no further: they cannot read it.
        let borrowed = try await other.run(
            ["send", try await theirStore(), "--to", receiver.address, "--identity", desk["watch"].string])
        #expect(borrowed.status != .exited(0))
        try await receiver.stop().expectFailure()
        #expect(try Folder.names(in: desk["inbox/.ship-store"]) == [".format", ".lock"])
    }

    /// As the README says of loopback without trust: every user of the machine may ship.
    @Test func `a port on loopback is open to all users while nobody is trusted`() async throws {
        let receiver = try await desk.listen()
        // They have no place for what a sender remembers.
        try await other.run(["send", try await theirStore(), "--to", receiver.address, "--no-remember"]).expectSuccess()
        try await receiver.stop().expectSuccess()
    }

    @Test func `who may not list the folder above an inbox receives into it all the same`() async throws {
        try await other.run(
            ["receive", "--into", other.folder.appending("own").string, "--from", try await theirShipment(), "-q"]
        ).expectSuccess()
        try await other.run(["verify", other.folder.appending("own").string, "-q"]).expectSuccess()
        try await other.run(["list", "--into", other.folder.appending("own").string]).expectSuccess()
    }

    private func theirStore() async throws -> String {
        let store = other.folder.appending("Theirs.sqlite")
        if (try? PlatformCalls.status(of: store)) == nil {
            try await desk.shell("cp Recipes.sqlite '\(store)'; chown 65534 '\(store)'").expectSuccess()
        }
        return store.string
    }

    private func theirShipment() async throws -> String {
        let shipment = other.folder.appending("theirs.shipment").string
        try await other.run(["send", try await theirStore(), "--to", shipment, "-q"]).expectSuccess()
        return shipment
    }
}

extension ChildProgram.Outcome {
    /// Expects that the program was stopped, or complained: not that it ended well with nothing to say.
    fileprivate func expectFailure(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(status != .exited(0) || !stderr.isEmpty, sourceLocation: sourceLocation)
    }
}
