import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Who a device is, and whom it trusts.
@Suite struct DeviceCommandTests {
    @Test func `the id is the same from run to run, and of two first runs at once`() async throws {
        let desk = try Desk()
        let first = try (0..<4).map { _ in try desk.start("identity") }
        var ids: Set<String> = []
        for program in first {
            let outcome = try await program.wait().expectSuccess()
            ids.insert(outcome.stdout)
        }
        ids.insert(try await desk.run("identity").stdout)
        #expect(ids.count == 1)
        let told = try await desk.run("identity", "--json").objects()
        #expect(told.first?["folder"] as? String == desk.configuration.appending("ship-store").string)
        #expect(ids.first?.contains(try #require(told.first?["id"] as? String)) == true)
        #expect(try Folder.names(in: desk.configuration.appending("ship-store")) == ["identity.pem"])
    }

    @Test func `the QR code comes after the id`() async throws {
        let outcome = try await Desk().run("identity", "--qr").expectSuccess()
        #expect(outcome.lines.count == 22)
        #expect(outcome.lines.dropFirst().allSatisfy { $0.count == 41 })
    }

    @Test func `a device is trusted, listed and trusted no more`() async throws {
        let desk = try Desk()
        let id = try await desk.id(of: "other")
        let trusted = try await desk.run("trust", id.lowercased(), "--name", "watch", "--role", "receiver")
        trusted.expectSuccess()
        #expect(trusted.stderr == "watch is trusted: may receive every store\n")
        try await desk.run("trust", id, "--only-store", "Tea", "--only-store", "Recipes", "--quiet").expectSuccess()
        let peers = try await desk.run("peers", "--json").objects()
        #expect(peers.count == 1)
        #expect(peers.first?["id"] as? String == id)
        #expect(peers.first?["stores"] as? [String] == ["Recipes", "Tea"])
        #expect(peers.first?["roles"] as? [String] == ["receiver"])
        #expect(try await desk.run("peers").stdout.hasPrefix("watch  \(id)  since "))
        try await desk.run("distrust", "watch", "--quiet").expectSuccess()
        let none = try await desk.run("peers")
        #expect(none.stdout == "" && none.stderr == "no device is trusted yet\n")
        try await desk.run("distrust", "watch").expectFailure(
            66, "no device of that id or name is trusted: watch",
            hint: "see `ship-store peers`; an id has 65 letters and digits")
    }

    @Test func `a store more takes no other away, and all are told`() async throws {
        let desk = try Desk()
        let id = try await desk.id(of: "other")
        func trust(_ arguments: String...) async throws -> ChildProgram.Outcome {
            try await desk.run(["trust"] + arguments)
        }
        #expect(
            try await trust(id, "--name", "phone", "--role", "sender", "--store", "Recipes").stderr
                == "phone is trusted: may send Recipes\n")
        // As the hint for a store that is refused says it, and by its name.
        #expect(try await trust(id, "--store", "Tea").stderr == "phone is trusted: may send Recipes, Tea\n")
        #expect(try await trust("phone", "--store", "Soup").stderr == "phone is trusted: may send Recipes, Soup, Tea\n")
        #expect(
            try await trust("phone", "--no-store", "Tea", "--store", "Cake").stderr
                == "phone is trusted: may send Cake, Recipes, Soup\n")
        #expect(try await trust("phone", "--only-store", "Tea").stderr == "phone is trusted: may send Tea\n")
        #expect(try await trust("phone", "--no-store", "Tea").stderr == "phone is trusted: may send no store\n")
        let again = try await trust("phone", "--store", "Tea", "--json")
        #expect(try again.objects().first?["stores"] as? [String] == ["Tea"])
        #expect(try await trust("phone", "--all-stores").stderr == "phone is trusted: may send every store\n")
        #expect(
            try await trust("phone", "--store", "Tea").stderr
                == "phone is trusted: may send every store\n"
                + "it could do so with every store before; --only-store leaves it no other\n")
        try await trust("phone", "--no-store", "Tea").expectFailure(
            64, "the device may send or receive every store, so that Tea cannot be taken from it",
            hint: "name those that it keeps with --only-store")
        #expect(try await trust("phone").stderr == "phone is trusted: may send every store\n")
        let hint = "see `ship-store trust --help`"
        try await trust("phone", "--store", "Tea", "--only-store", "Tea").expectFailure(
            64, "--only-store, --all-stores, and --store or --no-store exclude each other", hint: hint)
        try await trust("phone", "--store", "Tea", "--no-store", "Tea").expectFailure(
            64, "--store and --no-store both name Tea", hint: hint)
    }

    @Test func `a role more takes no other away, and one can be taken away`() async throws {
        let desk = try Desk()
        let id = try await desk.id(of: "other")
        func trust(_ arguments: String...) async throws -> String {
            let outcome = try await desk.run(["trust", id] + arguments).expectSuccess()
            return outcome.stderr
        }
        let kept = "it keeps the roles that it had; --no-role takes one away\n"
        #expect(try await trust("--name", "tablet", "--role", "sender") == "tablet is trusted: may send every store\n")
        #expect(
            try await trust("--role", "relay", "--store", "Tea")
                == "tablet is trusted: may send and pass on every store\n" + kept
                + "it could do so with every store before; --only-store leaves it no other\n")
        #expect(
            try await trust("--no-role", "sender", "--role", "receiver")
                == "tablet is trusted: may receive and pass on every store\n" + kept)
        #expect(
            try await trust("--no-role", "receiver", "--no-role", "relay", "--role", "sender")
                == "tablet is trusted: may send every store\n")
        #expect(try await trust("--no-role", "sender") == "tablet is trusted: may do nothing\n")
        try await desk.run("trust", id, "--role", "sender", "--no-role", "sender").expectFailure(
            64, "--role and --no-role both name sender", hint: "see `ship-store trust --help`")
        // What a new device is at first, without one of it.
        let new = try await desk.id(of: "new")
        let watch = try await desk.run("trust", new, "--name", "watch", "--no-role", "sender")
        #expect(watch.stderr == "watch is trusted: may receive every store\n")
    }

    @Test func `what is wrong with an id is said`() async throws {
        let desk = try Desk()
        let id = try await desk.id(of: "other")
        var characters = Array(id)
        characters[13] = characters[13] == "0" ? "1" : "0"
        let group = String(characters[12..<17])
        let hint = "see `ship-store trust --help`"
        try await desk.run("trust", String(characters)).expectFailure(
            64,
            "the value '\(String(characters))' is invalid for '<id or name>': there is a slip in group 3, \(group)",
            hint: hint)
        try await desk.run("trust", id, "--name", "watch", "-q").expectSuccess()
        for command in [["trust"], ["distrust"], ["holdings", "--into", "inbox", "--for"]] {
            try await desk.run(command + ["wtach"]).expectFailure(
                66, "no device of that id or name is trusted: wtach", hint: "did you mean watch?")
        }
        let own = try await desk.run("identity").lines.first ?? ""
        try await desk.run("trust", own).expectFailure(
            64, "that is the id of this device itself",
            hint: "take that of the other one: `ship-store identity` there")
    }

    @Test func `a key that others can read is refused`() async throws {
        let desk = try Desk()
        try await desk.run("identity").expectSuccess()
        let file = desk.configuration.appending("ship-store").appending("identity.pem")
        try PlatformCalls.changeMode(of: file, to: [.ownerReadWrite, .groupRead])
        try await desk.run("identity").expectFailure(
            77, "other users may have read or changed \(file)",
            hint: "if nobody did, `chmod go= \(file)`; otherwise remove it, and trust each other anew")
    }

    @Test(.enabled(if: PlatformCalls.effectiveUser == 0, "only root can become somebody else"))
    func `another user gets neither the key nor the list`() async throws {
        let desk = try Desk()
        try await desk.run("trust", try await desk.id(of: "other")).expectSuccess()
        let folder = desk.configuration.appending("ship-store")
        for name in ["identity.pem", "peers.json"] {
            let reading = try await ChildProgram(
                "/usr/bin/setpriv",
                ["--reuid", "65534", "--clear-groups", "cat", folder.appending(name).string]
            ).wait()
            #expect(reading.status == .exited(1) && reading.output.isEmpty)
        }
        let program = try BuiltProgram.path().string
        let asOther = try await ChildProgram(
            "/usr/bin/setpriv",
            ["--reuid", "65534", "--clear-groups", program, "peers", "--identity", folder.string]
        ).wait()
        #expect(asOther.status != .exited(0) && asOther.output.isEmpty)
    }
}

extension Desk {
    /// The id of another device, which keeps itself in a folder of this desk.
    func id(of folder: String) async throws -> String {
        let outcome = try await run("identity", "--identity", self[folder].string).expectSuccess()
        return try #require(outcome.lines.first)
    }
}
