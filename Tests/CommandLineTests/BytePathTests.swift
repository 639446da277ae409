import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Paths of bytes that are no UTF-8: a command touches the file that it was told, and no other.
@Suite struct BytePathTests {
    /// Two names that differ in one byte, or in two spellings that some program takes for one.
    struct Pair {
        let mine: [UInt8]
        let other: [UInt8]

        private static let confusable: [([UInt8], [UInt8])] = [
            ([0xFC], [0xEF, 0xBF, 0xBD]), ([0xFC], [0xFD]), ([0xC3, 0xA9], [0x65, 0xCC, 0x81]),
            ([0xFC], [0xF4, 0x8F, 0xBB, 0xBC]), ([0xFC], Array("\\xFC".utf8)), ([0xFC], Array("%fc".utf8)),
            ([0xE2, 0x82], [0xE2, 0x83]), ([0xC3], [0xC4]), ([0xFF], [0xFE]),
        ]

        init(_ random: inout RepeatableRandom) {
            func bytes(_ most: Int) -> [UInt8] {
                (0..<Int.random(in: 0...most, using: &random)).map { _ in
                    let byte = UInt8.random(in: 1...255, using: &random)
                    return byte == UInt8(ascii: "/") ? 0xE4 : byte
                }
            }
            let (start, end) = (
                Array("M".utf8) + bytes(3),
                bytes(3) + Array([".db", "", ".sqlite"].randomElement(using: &random)?.utf8 ?? "".utf8)
            )
            let (one, another) = Self.confusable.randomElement(using: &random) ?? ([0xFC], [0xFD])
            let turned = Bool.random(using: &random)
            mine = start + (turned ? another : one) + end
            other = start + (turned ? one : another) + end
        }
    }

    /// As bash writes bytes.
    private static func quoted(_ bytes: [UInt8]) -> String {
        "$'" + bytes.map { "\\x" + String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined() + "'"
    }

    @Test(arguments: 1...6)
    func `a command leaves a store alone whose name differs in one byte`(seed: UInt64) async throws {
        var random = RepeatableRandom(seed: seed)
        let desk = try Desk()
        let (pair, folder) = (Pair(&random), Pair(&random))
        let place = desk.path.appending(FilePath(bytes: folder.mine).components)
        try PlatformCalls.makeFolder(place)
        let (mine, other) = (place.pushing(FilePath(bytes: pair.mine)), place.pushing(FilePath(bytes: pair.other)))
        for (path, value) in [(mine, "mine"), (other, "other")] {
            try TestStore.make(at: desk["made"], sql: "CREATE TABLE t(a); INSERT INTO t VALUES ('\(value)')")
            try PlatformCalls.rename(desk["made"], to: path)
        }
        let before = try ContentDigest(ofFile: other)
        let steps: [(words: String, check: String)] = [
            ("copy \"$s\" --to ../out --as c.db", "is ../out/c.db mine"),
            ("copy \"$PWD/$s\" --to ../out --as d.db", "is ../out/d.db mine"),
            ("copy \"$s\" --keep-in \"$s.kept\"", "is \"$s.kept\"/*/*.sqlite mine"),
            ("restore \"$s.kept\"/* --over \"$s\"", "is \"$s\" mine"),
            ("verify \"$s\"", "is \"$s\" mine"),
            ("inspect \"$s\"", "is \"$s\" mine"),
            ("metadata \"$s\" --set a=b", "! is \"$s\" mine || sqlite3 \"$s\" .tables | grep -q metadata"),
            ("send \"$s\" --name s --to \"./$s.shipment\"", "[ -f \"$s.shipment\" ]"),
            ("receive --into \"$s.inbox\" --from \"./$s.shipment\"", "is \"$s.inbox\"/s.sqlite mine"),
            ("send \"$s\" --name s --to \"exec:$SHIP receive --into ../in --from - -q\"", "is ../in/s.sqlite mine"),
            ("list --into \"$s.inbox\"", "true"), ("bases", "true"),
            ("move \"$s\" --to \"$s.moved\" --remove-old", "[ ! -e \"$s\" ] && is \"$s.moved/$s\" mine"),
            ("destroy \"$s.moved/$s\"", "[ ! -e \"$s.moved/$s\" ]"),
        ]
        for step in steps {
            let outcome = try await desk.bash(
                """
                cd ./\(Self.quoted(folder.mine)); s=./\(Self.quoted(pair.mine)); is() { [ "$(sqlite3 -readonly "$1" 'SELECT a FROM t')" = "$2" ]; }
                mkdir -p \(Self.quoted([0xE9])) \(Self.quoted([0xE8])); export XDG_STATE_HOME="$PWD"/\(Self.quoted([0xE9]))/s TMPDIR="$PWD"/\(Self.quoted([0xE8]))
                "$SHIP" \(step.words) -q; \(step.check)
                """)
            #expect(outcome.status == .exited(0), "seed \(seed): \(step.words): \(outcome.stderr)")
            #expect(try ContentDigest(ofFile: other) == before, "seed \(seed): \(step.words)")
        }
        let names = try OpenFolder(place).components(in: place).map { FilePath(root: nil, [$0]).bytes }
        #expect(names.contains([0xE9]) && !names.contains(Array("\u{FFFD}".utf8)), "seed \(seed)")
    }

    @Test func `a text that is no UTF-8 is refused before anything is opened`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        for words in [
            "metadata Recipes.sqlite --set a=$'\\xfc'", "copy Recipes.sqlite --to out --exclude $'\\xfc'",
            "send Recipes.sqlite --to $'exec:\\xfc'", "send Recipes.sqlite --to $'unix:./\\xfc'",
            "copy Recipes.sqlite --keep-in out --tag $'\\xfc'", "send Recipes.sqlite --name $'\\xfc' --to ./x",
            "trust $'\\xfc'", "receive --into in --probe $'SELECT \\'\\xfc\\''", "$'\\xfc'", "$'--\\xfc'",
        ] {
            let outcome = try await desk.bash("\"$SHIP\" \(words)")
            #expect(outcome.status == .exited(64), "\(words): \(outcome.stderr)")
            #expect(!outcome.stderr.contains("\u{FFFD}"), "\(outcome.stderr)")
        }
        #expect(
            Set(try Folder.names(in: desk.path)).isSubset(of: [
                "Recipes.sqlite", "Recipes.sqlite-wal", "Recipes.sqlite-shm",
            ]))
    }

    @Test func `a path is shown with its bytes, and JSON leads back to it`() async throws {
        let desk = try Desk()
        let outcome = try await desk.bash(
            """
            sqlite3 $'M\\xfcller.db' 'CREATE TABLE t(a)'
            "$SHIP" copy $'M\\xfcller.db' --to $'\\xe9' --as c.db
            "$SHIP" verify $'M\\xfcller.db' --json
            """)
        #expect(outcome.stderr.contains("copied M\\xFCller.db"), "\(outcome.stderr)")
        #expect(outcome.output.starts(with: [0xE9] + Array("/c.db\n".utf8)))
        #expect(outcome.stdout.contains(#""M\udbff\udefcller.db""#), "\(outcome.stdout)")
    }

    @Test func `a command that is run gets the path in its bytes`() async throws {
        let desk = try Desk()
        let outcome = try await desk.bash(
            """
            sqlite3 s.db 'CREATE TABLE t(a); INSERT INTO t VALUES (1)'; "$SHIP" send s.db --to ./s.shipment -q
            "$SHIP" receive --into $'\\xe9' --from ./s.shipment -q
            "$SHIP" watch --into $'\\xe9' s --since 0 --once -q --exec 'sqlite3 -readonly "$SHIP_STORE_PATH" .dump | grep -q VALUES'
            """)
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
    }

    @Test func `what is remembered of a path leads back to it`() async throws {
        let desk = try Desk()
        let outcome = try await desk.bash(
            """
            sqlite3 $'M\\xfcller.db' 'CREATE TABLE t(a)'; cp $'M\\xfcller.db' $'M\\xef\\xbf\\xbdller.db'
            "$SHIP" copy $'M\\xfcller.db' --keep-in kept -q
            "$SHIP" copies --in kept --json | grep -q 'M\\\\udbff\\\\udefcller.db'
            "$SHIP" send $'M\\xfcller.db' --name M --to "exec:$SHIP receive --into inbox --from - -q" -q
            "$SHIP" bases --json | grep -q 'M\\\\udbff\\\\udefcller.db'
            "$SHIP" destroy $'M\\xef\\xbf\\xbdller.db' -q
            "$SHIP" bases --json | grep -q 'M\\\\udbff\\\\udefcller.db'
            "$SHIP" destroy $'M\\xfcller.db' -q
            ! "$SHIP" bases --json | grep -q ller.db
            """)
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
    }
}
