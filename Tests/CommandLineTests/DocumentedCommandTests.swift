import Foundation
import ShipProtocol
import SystemPackage
import TestSupport
import Testing

/// The commands that README.md and the pages of `Documentation` tell a user to type.
@Suite struct DocumentedCommandTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()

    private static let pages: [FilePath] = {
        let folder = root.appending("Documentation")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []
        return [root.appending("README.md")]
            + names.filter { $0.hasSuffix(".md") }.sorted().map { folder.appending($0) }
    }()

    /// The commands of a page: indented lines that begin with the program's name, up to where their quotes are closed.
    private static func commands(in page: FilePath) throws -> [String] {
        var commands: [String] = []
        var open: String?
        for line in try String(contentsOfFile: page.string, encoding: .utf8).components(separatedBy: "\n") {
            guard line.hasPrefix("    "), open != nil || line.hasPrefix("    ship-store ") else {
                #expect(open == nil, "\(page): a quote is not closed")
                open = nil
                continue
            }
            let command = (open.map { $0 + "\n" } ?? "") + line.dropFirst(4)
            open = command.count(where: { $0 == "'" }) % 2 == 0 ? nil : command
            if open == nil { commands.append(command) }
        }
        return commands
    }

    /// Other devices are where nobody is, names that stand for something are something, and nobody's port is taken.
    private static func tried(_ command: String, peers: [String]) -> String {
        var command = command
        let stands = [
            ("watch:7645", "127.0.0.1:1"), ("phone:7645", "127.0.0.1:1"), ("--to watch", "--to 127.0.0.1:1"),
            ("--to tablet", "--to 127.0.0.1:1"),
            ("0.0.0.0:7645", "127.0.0.1:0"), ("127.0.0.1:7646", "127.0.0.1:0"),
            ("https://shop.example", "http://127.0.0.1:1"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:1"),
            ("s3://shop/kitchen", "s3://shop/kitchen --endpoint-url http://127.0.0.1:1"),
            ("127.0.0.1:7645", "127.0.0.1:1"), ("exec:ssh watch ship-store", "exec:$SHIP"), ("c5a0...", digest),
            ("91ee...", digest), ("ID-OF-THE-PHONE", peers[0]), ("ID-OF-THE-WATCH", peers[1]),
            (" ID ", " \(peers[0]) "), ("KEY-OF-THE-PHONE", key), ("KEY-OF-THE-WATCH", key),
        ]
        for (name, thing) in stands { command = command.replacingOccurrences(of: name, with: thing) }
        return command
    }

    /// Of nobody.
    private static let key = "6Z4X9-YA1RM-71F60-F7DKE-03KN3-4F8G3-QQS0X-4RTMS-BA6JY-FBFDQ-FGF6P-H2HYY-30RG9"
    private static let digest = String(repeating: "c5", count: 32)

    /// A desk with all that the pages speak of, as far as it can be made in a moment.
    private static func desk() async throws -> (desk: Desk, peers: [String]) {
        let desk = try Desk()
        try desk.makeStore()
        let outcome = try await desk.bash(
            """
            mkdir -p b backups Group; printf '#!/bin/sh\\n' > take-over; chmod +x take-over
            for name in Photos.sqlite Notes.sqlite Other.db b/app.db; do cp Recipes.sqlite $name; done
            "$SHIP" send Recipes.sqlite --to ./monday.shipment --quiet
            "$SHIP" receive --into inbox --from ./monday.shipment --quiet
            "$SHIP" holdings --into inbox > watch.holdings
            for name in phone watch; do
                peer=$(XDG_CONFIG_HOME=$TMPDIR/$name "$SHIP" identity --quiet)
                "$SHIP" trust $peer --name $name --store Recipes --quiet
                echo $peer
            done
            rm -r $TMPDIR/phone $TMPDIR/watch
            """)
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        return (desk, outcome.stdout.split(separator: "\n").map(String.init))
    }

    /// Who types one of them is not told that it makes no sense, and the program does what no program should do: break.
    @Test(arguments: pages) func `each is one that the program understands`(page: FilePath) async throws {
        let (desk, peers) = try await Self.desk()
        for command in try Self.commands(in: page) {
            // What waits for others is interrupted, as its user would do.
            let outcome = try await desk.bash(
                """
                ship-store() { timeout -s INT 0.3 "$SHIP" "$@"; }
                set +e -o pipefail
                \(Self.tried(command, peers: peers))
                """)
            guard case .exited(let status) = outcome.status else {
                Issue.record("\(command): \(outcome.status)")
                continue
            }
            #expect(![64, 70].contains(status) && status < 126, "\(command): \(status), \(outcome.stderr)")
        }
    }

    @Test func `there are many of them, and a wrong one is seen`() async throws {
        #expect(try Self.pages.flatMap { try Self.commands(in: $0) }.count > 50)
        let (desk, _) = try await Self.desk()
        let outcome = try await desk.bash(#""$SHIP" send Recipes.sqlite --too watch"#)
        #expect(outcome.status == .exited(64))
    }

    /// A page, or a part of one, to which another page leads.
    @Test(arguments: pages) func `each link of a page leads somewhere`(page: FilePath) throws {
        let text = try String(contentsOfFile: page.string, encoding: .utf8)
        for match in text.matches(of: /\]\(([^)\s]+)\)/) where !match.output.1.hasPrefix("https://") {
            let parts = match.output.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let target =
                parts[0].isEmpty ? page : page.removingLastComponent().pushing(FilePath(String(parts[0])))
            #expect(FileManager.default.fileExists(atPath: target.string), "\(match.output.1)")
            guard parts.count == 2 else { continue }
            let titles = try String(contentsOfFile: target.string, encoding: .utf8).components(separatedBy: "\n")
                .filter { $0.hasPrefix("#") }.map { line in
                    line.drop { $0 == "#" || $0 == " " }.lowercased().filter {
                        $0.isLetter || $0.isNumber || " -".contains($0)
                    }
                    .replacingOccurrences(of: " ", with: "-")
                }
            #expect(titles.contains(String(parts[1])), "\(match.output.1)")
        }
    }
}
