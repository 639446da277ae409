import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A copy that was damaged after it was installed is mended by sending the same again, whichever way it comes.
@Suite struct MendedCopyTests {
    enum Way: CaseIterable {
        case link, file, pipe, publication
    }

    enum Damage: CaseIterable {
        case byte, header, cut, longer, gone, lostLink, manifest, folder, current
    }

    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore(rows: 3000)
    }

    private func ship(by way: Way) async throws -> ChildProgram.Outcome {
        switch way {
        case .link:
            let receiver = try await desk.listen()
            let outcome = try await desk.run("send", "Recipes.sqlite", "--to", receiver.address)
            try await receiver.stop().expectSuccess()
            return outcome
        case .file:
            try await desk.run("send", "Recipes.sqlite", "--to", "./1.shipment").expectSuccess()
            return try await desk.run("receive", "--into", "inbox", "--from", "./1.shipment")
        case .pipe:
            return try await desk.bash(
                "set -o pipefail; $SHIP send Recipes.sqlite --to - | $SHIP receive --into inbox --from -")
        case .publication:
            try await desk.run("send", "Recipes.sqlite", "--to", "dir:public").expectSuccess()
            return try await desk.run("receive", "--into", "inbox", "--from", "dir:public")
        }
    }

    private func generations() throws -> [String] {
        try Folder.names(in: desk["inbox/.ship-store/Recipes/generations"]).sorted()
    }

    private func damage(_ damage: Damage, _ random: inout RepeatableRandom) throws {
        let current = desk["inbox/.ship-store/Recipes/current"]
        let store = current.appending("Recipes.sqlite")
        let url = URL(fileURLWithPath: store.string)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: store.string)
        var bytes = try Data(contentsOf: url)
        switch damage {
        case .byte:
            bytes[Int.random(in: 100..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
        case .header: bytes.replaceSubrange(0..<100, with: Data(count: 100))
        case .cut: bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))
        case .longer: bytes += Data(random.bytes(Int.random(in: 1...9000, using: &random)))
        case .gone: return try FileManager.default.removeItem(at: url)
        case .lostLink: return try FileManager.default.removeItem(atPath: desk["inbox/Recipes.sqlite"].string)
        case .manifest:
            let manifest = current.appending("manifest.json")
            try FileManager.default.removeItem(atPath: manifest.string)
            return try OpenFile.creating(manifest).write(Array("{}".utf8))
        case .folder:
            return try FileManager.default.removeItem(
                at: URL(fileURLWithPath: current.string).resolvingSymlinksInPath())
        case .current: return try PlatformCalls.removeFile(current)
        }
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: bytes)
        try handle.close()
    }

    @Test(arguments: Way.allCases, Damage.allCases)
    func `sending the same again mends it`(way: Way, damage: Damage) async throws {
        var random = RepeatableRandom(seed: UInt64(Way.allCases.count * 100))
        try await ship(by: way).expectSuccess()
        try self.damage(damage, &random)
        let verified = try await desk.run("verify", "inbox")
        // Without a record, a first copy whose name is missing may have waited for it.
        let isWaiting =
            damage == .lostLink
            && !FileManager.default.fileExists(atPath: desk["inbox/.ship-store/Recipes/origin.json"].string)
        #expect((verified.status == .exited(0)) == isWaiting, "\(verified.stderr)")
        try await ship(by: way).expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite"))
        if damage != .lostLink {
            let status = try PlatformCalls.statusFollowingLinks(of: desk["inbox/Recipes.sqlite"])
            #expect(status.permissions == .ownerRead)
        }
        try await desk.run("verify", "inbox").expectSuccess()
        try await desk.run("status", "--into", "inbox").expectSuccess()
        // Once it is whole, the same changes nothing.
        let before = try generations()
        try await ship(by: way).expectSuccess()
        #expect(try generations() == before)
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: [Damage.byte, .cut, .gone])
    func `a damaged copy does not keep a follower from what is newer`(damage: Damage) async throws {
        var random = RepeatableRandom(seed: 1)
        try await ship(by: .publication).expectSuccess()
        try self.damage(damage, &random)
        // So much has changed that a whole is due.
        try desk.execute("UPDATE recipe SET title = hex(randomblob(30))", in: "Recipes.sqlite")
        try await ship(by: .publication).expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite"))
    }

    @Test(arguments: [Damage.byte, .cut, .gone, .manifest, .folder, .current])
    func `what came by a step comes again by all steps`(damage: Damage) async throws {
        var random = RepeatableRandom(seed: 1)
        try await ship(by: .publication).expectSuccess()
        for title in ["Pie", "Soup", "Tea"] {
            try desk.execute("UPDATE recipe SET title = '\(title)' WHERE id = 7", in: "Recipes.sqlite")
            try await ship(by: .publication).expectSuccess()
            try self.damage(damage, &random)
            // With another change, and without one.
            if title == "Soup" { try desk.execute("DELETE FROM recipe WHERE id = 9", in: "Recipes.sqlite") }
            try await ship(by: .publication).expectSuccess()
            #expect(try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite"))
        }
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: [Damage.header, .cut, .gone, .lostLink])
    func `status tells what costs little to see`(damage: Damage) async throws {
        var random = RepeatableRandom(seed: 1)
        try await ship(by: .file).expectSuccess()
        if damage == .lostLink {
            // A first generation gets its names last.
            try desk.execute("UPDATE recipe SET title = 'Pie' WHERE id = 7", in: "Recipes.sqlite")
            try await ship(by: .file).expectSuccess()
        }
        try self.damage(damage, &random)
        let status = try await desk.run("status", "--into", "inbox")
        #expect(status.status == .exited(80) && status.stdout.contains("failing"), "\(status.stdout)\(status.stderr)")
    }

    @Test func `a power cut before a first copy has its names leaves nothing to complain of`() async throws {
        try await ship(by: .file).expectSuccess()
        // However long ago that was. What is known of the sender is written after them.
        try await desk.shell(
            """
            cd inbox && touch -d yesterday .ship-store/Recipes/generations/1-* &&
            rm -f Recipes.sqlite .ship-store/Recipes/origin.json
            """
        ).expectSuccess()
        // Whoever reads it in another way than by its name has it: it is current for all that tell of the inbox.
        for isCurrent in [true, false] {
            if !isCurrent { try await desk.shell("rm inbox/.ship-store/Recipes/current").expectSuccess() }
            let verified = try await desk.run("verify", "inbox").expectSuccess()
            #expect(verified.stdout.contains("nothing current yet") == !isCurrent)
            let status = try await desk.run("status", "--into", "inbox").expectSuccess()
            #expect(status.stdout.contains("empty") == !isCurrent)
            let list = try await desk.run("list", "--into", "inbox").expectSuccess()
            #expect(list.stdout.contains("*") == isCurrent)
            let watch = try desk.start("watch", "--into", "inbox", "--json")
            _ = try await watch.waitForLine(containing: "watching")
            if isCurrent { _ = try await watch.waitForLine(containing: "current", on: .output) }
            watch.signal(SIGTERM)
            #expect(try await watch.wait().stdout.contains("current") == isCurrent)
        }
        try await ship(by: .file).expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite"))
    }
}
