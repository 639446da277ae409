import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Commands that messages name, typed as they stand.
@Suite struct ShownCommandTests {
    /// Names of folders, as the bash and sh of the machine take them.
    private static let names = [
        "plain", "my store", "it's", "a$b `c` \"d\"", "*", "caf\u{e9} \u{2615}", "new\nline", "back\\slash's\u{7}",
    ]

    @Test(arguments: names)
    func `work whatever a path is called`(name: String) async throws {
        let desk = try Desk()
        try desk.makeStore()
        let folder = desk.path.appending(text: name)
        try await desk.run("copy", "Recipes.sqlite", "--keep-in", folder.string).expectSuccess()
        let copy = try #require(try Folder.names(in: folder).first { !$0.hasPrefix(".") })
        let outcome = try await desk.run("destroy", folder.appending(text: copy).appending("Recipes.sqlite").string)
        #expect(outcome.status == .exited(64), "\(outcome.stderr)")
        let hint = try #require(outcome.complaints.last)
        let start = try #require(hint.firstIndex(of: "`"))
        let command = hint[hint.index(after: start)..<(try #require(hint.lastIndex(of: "`")))]
        #expect(command.hasPrefix("ship-store copies --in "), "\(hint)")
        // `$'…'` is bash's, and POSIX's of 2024.
        let typed = "ship-store() { \"$SHIP\" \"$@\"; }; \(command.replacing("--prune", with: "--json"))"
        try typed.write(toFile: desk["typed"].string, atomically: false, encoding: .utf8)
        let told = try await desk.shell("bash ./typed").expectSuccess()
        #expect(told.lines.count == 1, "\(told.stdout)")
    }
}
