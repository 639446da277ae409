import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A publisher or a follower dies, or is let down by the system, at any of its calls that change a file system: whoever follows or begins
/// has one committed state, what was acknowledged is published, and the next one of either mends the rest.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct PublicationFaultTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try .inMemory()
    }

    private static let cases = [(FaultShim.Action.kill, false), (.kill, true), (.eio, false), (.enospc, true)]

    @Test(arguments: cases)
    func `a publication has the old or the new state, and the next publisher mends it`(
        action: FaultShim.Action, isEncrypted: Bool
    ) async throws {
        try await sweep(action, isEncrypted) { kitchen, place, call, comment in
            let log = place.path.appending("calls")
            let outcome = try await kitchen.publish(in: place, FaultShim.environment(action, at: call, log: log))
            let found = try await kitchen.look(in: place, comment)
            if outcome.status == .exited(0) { #expect(found == [true, true], comment) }
            // Both are shown the same.
            #expect(Set(found).count == 1, comment)

            let next = try await kitchen.publish(in: place)
            #expect(next.status == .exited(0), "\(comment) \(next.stderr)")
            #expect(try await kitchen.look(in: place, comment) == [true, true], comment)
            #expect(try Folder.names(in: place.publication) == ["head", "objects"], comment)
            #expect(try Folder.names(in: place.temporary) == [], comment)
            let pruned = try await kitchen.prune(in: place)
            #expect(pruned.status == .exited(0), "\(comment) \(pruned.stderr)")
            try? Folder.removeTree(at: place.inboxes[1])
            #expect(try await kitchen.look(in: place, comment) == [true, true], comment)
            return FaultShim.calls(in: log).count >= call
        }
    }

    @Test(arguments: cases)
    func `a follower has the old or the new state, and goes on`(
        action: FaultShim.Action, isEncrypted: Bool
    ) async throws {
        try await sweep(action, isEncrypted) { kitchen, place, call, comment in
            let published = try await kitchen.publish(in: place)
            try #require(published.status == .exited(0), "\(published.stderr)")
            var isThereSuchACall = false
            for (number, inbox) in place.inboxes.enumerated() {
                let log = place.path.appending("calls\(number)")
                let outcome = try await kitchen.receive(
                    in: place, into: inbox, FaultShim.environment(action, at: call, log: log))
                if FaultShim.calls(in: log).count >= call { isThereSuchACall = true }
                let isNew = try kitchen.isNew(in: inbox, mayBeMissing: number == 1, comment)
                if outcome.status == .exited(0) { #expect(isNew, comment) }
            }
            #expect(try await kitchen.look(in: place, comment) == [true, true], comment)
            for inbox in place.inboxes {
                // What has been installed before the kill counts as what broke off, and goes after a day.
                let objects = try Folder.names(in: inbox.appending(".ship-store/.objects"))
                #expect(objects.count <= (action == .kill ? 1 : 0), comment)
                #expect(try Folder.names(in: inbox.appending(".ship-store/Recipes/staging")) == [], comment)
            }
            #expect(try Folder.names(in: place.temporary) == [], comment)
            return isThereSuchACall
        }
    }

    /// - Parameter round: Returns whether there was such a call.
    private func sweep(
        _ action: FaultShim.Action, _ isEncrypted: Bool,
        _ round: (Kitchen, Kitchen.Place, _ call: Int, Comment) async throws -> Bool
    ) async throws {
        let kitchen = try await Kitchen.make(in: scratch, isEncrypted: isEncrypted)
        let step = Soak.isOn ? 1 : action == .kill ? 29 : 67
        // Other calls with each action.
        var call = Soak.isOn || action == .kill ? 1 : action == .eio ? 4 : 9
        func hasMore() async throws -> Bool {
            let place = try kitchen.copy()
            defer { try? Folder.removeTree(at: place.path) }
            return try await round(kitchen, place, call, "\(action) at \(call)")
        }
        while try await hasMore() { call += step }
        #expect(call > 30, "the shim counts almost nothing")
    }
}

/// A publication that the next publish gives a catalog, with a follower that has the state before.
private struct Kitchen {
    let template: Place
    let scratch: ScratchFolder
    let store: FilePath
    let watch: FilePath
    let recipients: [String]
    let old: StoreContent
    let new: StoreContent

    /// What changes.
    struct Place {
        let path: FilePath

        var publication: FilePath { path.appending("publication") }
        var temporary: FilePath { path.appending("tmp") }
        /// Of the one who has the state before, and of one who begins.
        var inboxes: [FilePath] { [path.appending("inbox"), path.appending("beginner")] }
        var phone: FilePath { path.appending("phone") }
        var endpoint: String { "dir:\(publication)" }

        func run(
            _ arguments: [String], as device: FilePath, _ more: [String: String] = [:]
        ) async throws -> ChildProgram.Outcome {
            let environment = ["TMPDIR": temporary.string, "XDG_STATE_HOME": path.appending("state").string]
            return try await BuiltProgram.run(
                arguments + ["--identity", device.string], environment: environment.merging(more) { $1 })
        }
    }

    static func make(in scratch: ScratchFolder, isEncrypted: Bool) async throws -> Kitchen {
        let store = scratch.path.appending("Recipes.sqlite")
        let watch = scratch.path.appending("watch")
        let key = try await BuiltProgram.run(["identity", "--encryption-key", "--identity", watch.string])
        let recipients = isEncrypted ? ["--encrypt-to", try #require(key.lines.first)] : []
        try TestStore.make(
            at: store,
            sql: """
                CREATE TABLE recipe(id INTEGER PRIMARY KEY, title);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                INSERT INTO recipe SELECT i, 'Soup of ' || i FROM n;
                """)
        var place = Place(path: try scratch.folder("0"))
        _ = try scratch.folder("0/tmp")
        func publish(in place: Place) async throws -> Int {
            let outcome = try await Self.publish(store, recipients, in: place, [:])
            try #require(outcome.status == .exited(0), "\(outcome.stderr)")
            return try Folder.names(in: place.publication.appending("objects")).count
        }
        var objects = try await publish(in: place)
        for number in 1..<100 {
            let old = try StoreContent(of: store)
            try TestStore.make(at: store, sql: "UPDATE recipe SET title = 'Bread \(number)' WHERE id = 7")
            let next = Place(path: scratch.path.appending("\(number)"))
            try FileManager.default.copyItem(atPath: place.path.string, toPath: next.path.string)
            let count = try await publish(in: next)
            if count > objects {
                let kitchen = Kitchen(
                    template: place, scratch: scratch, store: store, watch: watch, recipients: recipients, old: old,
                    new: try StoreContent(of: store))
                let received = try await kitchen.receive(in: place, into: place.inboxes[0])
                try #require(received.status == .exited(0), "\(received.stderr)")
                try #require(try kitchen.isNew(in: place.inboxes[0], "before") == false)
                return kitchen
            }
            (place, objects) = (next, count)
        }
        throw NoCatalog()
    }

    struct NoCatalog: Error {}

    func copy() throws -> Place {
        let place = Place(path: scratch.path.appending("\(UUID())"))
        try FileManager.default.copyItem(atPath: template.path.string, toPath: place.path.string)
        return place
    }

    func publish(in place: Place, _ more: [String: String] = [:]) async throws -> ChildProgram.Outcome {
        try await Self.publish(store, recipients, in: place, more)
    }

    private static func publish(
        _ store: FilePath, _ recipients: [String], in place: Place, _ more: [String: String]
    ) async throws -> ChildProgram.Outcome {
        try await place.run(["send", store.string, "--to", place.endpoint] + recipients, as: place.phone, more)
    }

    func prune(in place: Place) async throws -> ChildProgram.Outcome {
        try await place.run(["publish", "--prune", place.endpoint, "--grace", "0s"], as: place.phone)
    }

    func receive(
        in place: Place, into inbox: FilePath, _ more: [String: String] = [:]
    ) async throws -> ChildProgram.Outcome {
        try await place.run(["receive", "--into", inbox.string, "--from", place.endpoint], as: watch, more)
    }

    /// Has the follower, and one who begins, take what is published.
    ///
    /// - Returns: Whether that is the new state, of each.
    func look(in place: Place, _ comment: Comment) async throws -> [Bool] {
        var found: [Bool] = []
        for inbox in place.inboxes {
            let received = try await receive(in: place, into: inbox)
            #expect(received.status == .exited(0), "\(comment) \(received.stderr)")
            found.append(try isNew(in: inbox, comment))
        }
        return found
    }

    /// Whether an inbox has the new state; otherwise it has the old one.
    func isNew(in inbox: FilePath, mayBeMissing: Bool = false, _ comment: Comment) throws -> Bool {
        let path = inbox.appending("Recipes.sqlite")
        if mayBeMissing, (try? PlatformCalls.status(of: path)) == nil { return false }
        let content = try StoreContent(of: path)
        #expect(content == old || content == new, comment)
        return content == new
    }
}
