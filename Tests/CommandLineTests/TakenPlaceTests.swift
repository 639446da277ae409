import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// What takes a file's place takes its owner, its group, its mode, its ACL and its attributes: who could use the file before can use it
/// afterwards, whoever has run the command, and under whatever umask.
@Suite(.enabled("python3 is missing") { await Python.isAvailable() })
struct TakenPlaceTests {
    private let desk: Desk
    private let seed = UInt64.random(in: 0..<1 << 32)
    private let file: Ownership
    private let folder: Ownership
    private let umask: String

    init() async throws {
        desk = try Desk()
        var random = RepeatableRandom(seed: seed)
        file = Ownership(&random, modes: [0o600, 0o604, 0o606, 0o640, 0o644, 0o660, 0o664, 0o666])
        folder = Ownership(&random, modes: [0o700, 0o750, 0o755, 0o770, 0o775, 0o777, 0o1777])
        umask = ["0", "022", "077"].randomElement(using: &random) ?? "0"
        try PlatformCalls.makeFolder(desk["app"])
        let sample = try CoreDataSample(at: desk["app/Notes.db"])
        try sample.addPhoto(key: 1, content: Data("a photo".utf8))
        try await desk.run("copy", "app/Notes.db", "--keep-in", "kept", "-q").expectSuccess()
    }

    private var comment: Comment { "seed \(seed): file \(file), folder \(folder), umask \(umask)" }

    /// Whose a file is, at random: any user's if root runs this, or else one's own.
    private struct Ownership: CustomStringConvertible {
        let owner: UInt32
        let group: UInt32
        let mode: UInt16
        let hasACL: Bool
        let hasAttribute: Bool

        init(_ random: inout RepeatableRandom, modes: [UInt16]) {
            let isRoot = PlatformCalls.effectiveUser == 0
            owner = isRoot ? .random(in: 1000..<3000, using: &random) : PlatformCalls.effectiveUser
            group = isRoot ? .random(in: 1000..<3000, using: &random) : getegid()
            mode = modes.randomElement(using: &random) ?? 0o600
            hasACL = Bool.random(using: &random)
            hasAttribute = Bool.random(using: &random)
        }

        var description: String {
            "\(String(mode, radix: 8)) \(owner):\(group)\(hasACL ? " acl" : "")\(hasAttribute ? " user" : "")"
        }
    }

    /// Gives a file to somebody.
    private func give(_ path: String, _ ownership: Ownership) async throws {
        let program = """
            import os, struct, sys
            path, owner, group, mode, acl, attribute = sys.argv[1], *(int(a) for a in sys.argv[2:])
            os.chown(path, owner, group)
            entries = [(1, 6, -1), (2, 6, 3001), (4, 4, -1), (16, 6, -1), (32, 0, -1)]
            value = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
            try:
                if acl: os.setxattr(path, "system.posix_acl_access", value)
                if attribute: os.setxattr(path, "user.note", b"mine")
            except OSError as error:
                print("skipped:", error)
            os.chmod(path, mode)
            """
        let outcome = try await ChildProgram(
            "/usr/bin/env",
            ["python3", "-c", program, desk[path].string]
                + [ownership.owner, ownership.group, UInt32(ownership.mode)].map(String.init)
                + [ownership.hasACL, ownership.hasAttribute].map { $0 ? "1" : "0" }
        ).wait()
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        if !outcome.lines.isEmpty { print("TakenPlaceTests, a file without an ACL or attributes: \(outcome.lines)") }
    }

    /// What Linux says of the file, or of all that is in the folder.
    private func facts(_ path: String, whole: Bool = false) async throws -> [String] {
        let program = """
            import os, sys
            def tell(path):
                status = os.lstat(path)
                attributes = {name: os.getxattr(path, name).hex() for name in sorted(os.listxattr(path))}
                print("%o %d:%d %s" % (status.st_mode, status.st_uid, status.st_gid, attributes))
            tell(sys.argv[1])
            if sys.argv[2:]:
                for folder, folders, files in os.walk(sys.argv[1]):
                    for name in sorted(folders + files): tell(os.path.join(folder, name))
            """
        let outcome = try await ChildProgram(
            "/usr/bin/env", ["python3", "-c", program, desk[path].string] + (whole ? ["whole"] : [])
        ).wait()
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        return outcome.lines
    }

    private func run(_ line: String) async throws {
        let outcome = try await desk.shell("umask \(umask); exec \"$SHIP\" \(line) -q")
        #expect(outcome.status == .exited(0), "\(comment) \(outcome.stderr)")
    }

    /// Who may read files may enter their folder, and who may write to them may put others there.
    private func folderMode(of mode: UInt16) -> UInt16 { mode & 0o777 | 0o700 | (mode & 0o044) >> 2 }

    private func expect(_ facts: [String], mode: UInt16, _ kind: UInt16, of owner: Ownership) {
        let whose = "\(String(kind | mode, radix: 8)) \(owner.owner):\(owner.group) "
        #expect(!facts.isEmpty && facts.allSatisfy { $0.hasPrefix(whose) }, "\(comment): \(facts), not \(whose)")
    }

    @Test func `a restore keeps the file of a store, and makes the copies of it for those who use it`() async throws {
        try await give("app/Notes.db", file)
        let before = try await facts("app/Notes.db")
        try Folder.removeTree(at: desk["app/.Notes_SUPPORT"])
        try await run("restore kept/* --over app/Notes.db")
        #expect(try await facts("app/Notes.db") == before, comment)
        let kept = try await facts("app/.Notes-safety", whole: true)
        expect(kept.filter { $0.hasPrefix("4") }, mode: folderMode(of: file.mode), 0o040000, of: file)
        expect(kept.filter { $0.hasPrefix("1") }, mode: file.mode & 0o444 | 0o400, 0o100000, of: file)
        let files = try await facts("app/.Notes_SUPPORT", whole: true)
        expect(files.filter { $0.hasPrefix("4") }, mode: folderMode(of: file.mode), 0o040000, of: file)
        #expect(files.filter { $0.hasPrefix("1") } == before, comment)
    }

    @Test func `a store that comes in place of a damaged one is for the same users, and so is what is left of that`()
        async throws
    {
        var random = RepeatableRandom(seed: seed)
        try Data(random.bytes(3000)).write(to: URL(filePath: desk["app/Notes.db"].string))
        try await give("app/Notes.db", file)
        let before = try await facts("app/Notes.db")
        try await run("restore kept/* --over app/Notes.db")
        #expect(try await facts("app/Notes.db") == before, comment)
        let name = try #require(try Folder.names(in: desk["app"]).first { $0.contains(".damaged-") })
        #expect(try await facts("app/\(name)/Notes.db") == before, comment)
        expect(try await facts("app/\(name)"), mode: folderMode(of: file.mode), 0o040000, of: file)
    }

    @Test func `a store that was lost comes back for the users of its folder, or of its log`() async throws {
        try await desk.shell("rm -r app/Notes.db* app/.Notes_SUPPORT").expectSuccess()
        try await give("app", folder)
        try await run("restore kept/* --over app/Notes.db")
        // Whoever may write in the folder, as SQLite has to; in a sticky one everybody has files of their own.
        let mode = folder.mode & 0o1000 != 0 ? 0o600 : 0o600 | (folder.mode & 0o022) * 3
        for name in ["app/Notes.db", "app/.Notes_SUPPORT/_EXTERNAL_DATA"] {
            let isFolder = name != "app/Notes.db"
            let found = try await facts(name)
            expect(found, mode: isFolder ? folderMode(of: mode) : mode, isFolder ? 0o040000 : 0o100000, of: folder)
        }
        try await desk.shell("rm app/Notes.db; echo log > app/Notes.db-wal").expectSuccess()
        try await give("app/Notes.db-wal", file)
        let before = try await facts("app/Notes.db-wal")
        try await run("restore kept/* --over app/Notes.db")
        #expect(try await facts("app/Notes.db") == before, comment)
    }

    @Test func `a store that moves stays its users'`() async throws {
        try await give("app/Notes.db", file)
        let before = try await facts("app/Notes.db")
        try await run("move app/Notes.db --to other/place --remove-old")
        #expect(try await facts("other/place/Notes.db") == before, comment)
        for folder in ["other", "other/place", "other/place/.Notes_SUPPORT"] {
            expect(try await facts(folder), mode: folderMode(of: file.mode), 0o040000, of: file)
        }
    }

    @Test(arguments: ["copy app/Notes.db --to out --as file", "send app/Notes.db --no-remember --to ./out/file.sqlite"])
    func `a newer copy or shipment is for those who could read the older one`(command: String) async throws {
        try PlatformCalls.makeFolder(desk["out"])
        try await run(command)
        #expect(
            try await facts("out/file.sqlite") == ["100600 \(PlatformCalls.effectiveUser):\(getegid()) {}"], comment)
        try await give("out/file.sqlite", file)
        let before = try await facts("out/file.sqlite")
        let inode = try PlatformCalls.status(of: desk["out/file.sqlite"]).inode
        try await run(command)
        #expect(try await facts("out/file.sqlite") == before, comment)
        #expect(try PlatformCalls.status(of: desk["out/file.sqlite"]).inode != inode)
    }

    @Test(.enabled(if: PlatformCalls.effectiveUser == 0, "only root can act for another user"))
    func `what root has restored, the app's user restores again`() async throws {
        let outcome = try await desk.shell(
            """
            chmod 0711 . ..; chmod -R a+rX kept; chown -R 65534 app
            for store in usable damaged lost; do
                case $store in damaged) head -c 3000 /dev/urandom > app/Notes.db;; lost) rm -f app/Notes.db app/Notes.db-*;; esac
                "$SHIP" restore kept/* --over app/Notes.db -q
                HOME=$PWD/app TMPDIR=$PWD/app XDG_STATE_HOME=$PWD/app/state \
                    setpriv --reuid 65534 --regid 65534 --clear-groups "$SHIP" restore kept/* --over app/Notes.db -q
            done
            """)
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        let left = try Folder.names(in: desk["app"]).filter { $0.hasPrefix(".ship-store") || $0.hasSuffix("restoring") }
        #expect(left == [])
    }
}

private enum Python {
    static func isAvailable() async -> Bool {
        (try? await ChildProgram("/usr/bin/env", ["python3", "--version"]).wait())?.status == .exited(0)
    }
}
