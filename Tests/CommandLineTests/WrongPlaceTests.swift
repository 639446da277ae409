import Foundation
import TestSupport
import Testing

/// A path on the command line at which there is not what a command needs. One kind of error has one exit status, whichever command meets
/// it, and is told in words about the path that the user gave.
@Suite struct WrongPlaceTests {
    /// What a command does with the path.
    enum Use: CaseIterable {
        /// Reads or changes a file that has to be there.
        case file
        /// The same for a folder.
        case folder
        /// Makes the folder, and those above it.
        case newFolder
        /// Makes something in a folder that has to be there.
        case inFolder
        /// Keeps secrets in the folder: whoever could put anything else there could read them.
        case secrets
    }

    enum Fault: CaseIterable { case missing, notFolder, shut }

    /// sysexits(3): EX_NOINPUT, EX_CANTCREAT, EX_NOPERM; `nil` for what is no fault.
    static func status(_ use: Use, _ fault: Fault) -> Int32? {
        switch (use, fault) {
        case (.newFolder, .missing), (.secrets, .missing): nil
        case (.file, .missing), (.folder, .missing), (.inFolder, .missing): 66
        case (.file, .notFolder), (.folder, .notFolder): 66
        case (.newFolder, .notFolder), (.inFolder, .notFolder): 73
        case (.secrets, .notFolder): 77
        case (_, .shut): 77
        }
    }

    /// `@` stands for the path.
    static let commands: [(use: Use, line: String)] =
        [
            "send @ --to ./o.shipment", "copy @ --to o", "copy @ --keep-in o", "inspect @", "verify @", "metadata @",
            "metadata @ --set a=b", "destroy @", "move @ --to o", "restore @ --over T.sqlite",
            "restore kept/* --over @",
            "receive --into inbox --from @", "receive --into inbox --from ./s.shipment --model @",
            "send S.sqlite --for @ --to ./o.shipment", "send S.sqlite --since @ --to ./o.shipment",
        ].map { (.file, $0) }
        + [
            "list --into @", "prune --into @", "rollback S --into @", "rollback S --into @ --allow-again",
            "forget S --into @", "watch --into @ --once", "holdings --into @", "copies --in @", "copies --in @ --prune",
        ].map { (.folder, $0) }
        + [
            "receive --into @ --from ./s.shipment", "copy S.sqlite --to @", "copy S.sqlite --keep-in @",
            "move S.sqlite --to @", "restore S.sqlite --over T.sqlite --safety-copies @",
        ].map { (.newFolder, $0) }
        + [
            "send S.sqlite --to ./o.shipment --temporary-folder @", "copy S.sqlite --to o --temporary-folder @",
            "inspect S.sqlite --temporary-folder @", "verify S.sqlite --temporary-folder @",
            "restore S.sqlite --over T.sqlite --temporary-folder @", "send S.sqlite --to @",
            "inspect S.sqlite --html @",
            "receive --into inbox --listen unix:@ --once",
        ].map { (.inFolder, $0) }
        + [
            "identity --identity @", "peers --identity @", "distrust x --identity @", "trust x --identity @",
            "receive --into inbox --from ./s.shipment --identity @",
            "send S.sqlite --to ./o.shipment --sign --identity @", "holdings --into inbox --identity @",
        ].map { (.secrets, $0) }

    @Test func `one kind of wrong place has one status`() async throws {
        let desk = try Desk()
        let user = try await OtherUser(at: desk)
        try await user.shell(
            """
            umask 077
            sqlite3 S.sqlite 'CREATE TABLE a(b); INSERT INTO a VALUES (1), (2)'; cp S.sqlite T.sqlite
            $SHIP send S.sqlite --to ./s.shipment -q; $SHIP receive --into inbox --from ./s.shipment -q
            $SHIP copy S.sqlite --keep-in kept -q > /dev/null
            : > file; mkdir shut; chmod 0 shut
            """
        ).expectSuccess()
        let seed = UInt64.random(in: 0..<1 << 32)
        var random = RepeatableRandom(seed: seed)
        for (use, line) in Self.commands {
            for fault in Fault.allCases {
                guard let status = Self.status(use, fault) else { continue }
                let folder = [.missing: "nosuch", .notFolder: "file", .shut: "shut"][fault] ?? ""
                var places = ["x", "a b/x", "x.sqlite", "S"].map { "\(folder)/\($0)" }
                // A folder that is a file itself is no folder, either.
                if [.folder, .newFolder].contains(use) { places.append(folder) }
                for place in places {
                    let start = ["./", "\(user.folder)/", "./../theirs/"].randomElement(using: &random) ?? ""
                    let path = start + place
                    let json = Bool.random(using: &random) ? " --json" : ""
                    let outcome = try await user.shell("$SHIP \(line.replacing("@", with: "'\(path)'"))\(json)")
                    let comment: Comment = "seed \(seed): \(line) \(path)\(json): \(outcome.status) \(outcome.stderr)"
                    #expect(outcome.status == .exited(status), comment)
                    // What happened, and what to do; no name that the program has made up.
                    #expect(outcome.complaints.count == 2, comment)
                    #expect(outcome.stderr.firstMatch(of: #//\.?ship-store-[0-9A-F]{8}-/#) == nil, comment)
                    guard !json.isEmpty else { continue }
                    let last = try outcome.objects().last
                    #expect(last?["event"] as? String == "error" && last?["status"] as? Int32 == status, comment)
                }
            }
        }
    }

    @Test func `a folder that is not there, and a path that is empty, are told as such`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try await desk.run("send", "Recipes.sqlite", "--to", "./nodir/a.shipment").expectFailure(
            66, "there is no folder ./nodir", hint: "make it first, or choose another path")
        try await desk.run("send", "", "--to", "./a.shipment").expectFailure(
            66, "there is no store at ''", hint: "check the path")
    }

    @Test func `a store that is not in an inbox is told with those that are like it`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try await desk.shell("$SHIP send Recipes.sqlite --to - -q | $SHIP receive --into inbox --from - -q")
            .expectSuccess()
        for (name, hint) in [
            ("Recipe", "did you mean Recipes?"), ("recipes.sqlite", "did you mean Recipes?"),
            ("Tea", "see `ship-store list --into INBOX`"),
        ] {
            for command in [
                ["rollback", name], ["rollback", name, "--allow-again"], ["forget", name], ["prune", name],
            ] {
                try await desk.run(command + ["--into", "inbox"]).expectFailure(
                    66, "there is no store \(name) in the inbox", hint: hint)
            }
        }
    }

    @Test func `a head without a byte is said to be none`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try await desk.shell("mkdir kitchen; : > kitchen/head").expectSuccess()
        for arguments in [["send", "Recipes.sqlite", "--to"], ["receive", "--into", "inbox", "--from"]] {
            let outcome = try await desk.run(arguments + ["dir:kitchen"])
            #expect(outcome.status == .exited(65))
            #expect(outcome.complaints.first?.hasSuffix("the head at dir:kitchen is damaged: it is no head") == true)
        }
    }
}
