import StoreFiles
import TestSupport
import Testing

/// Command lines that make no sense.
@Suite struct UsageTests {
    struct Mistake: CustomTestStringConvertible, Sendable {
        let arguments: [String]
        let error: String
        /// What is near to what was said; `nil` for the help of the command.
        let hint: String?

        init(_ arguments: String..., error: String, hint: String? = nil) {
            self.arguments = arguments
            self.error = error
            self.hint = hint
        }

        var testDescription: String { arguments.joined(separator: " ") }
    }

    private static let nameRule =
        "a name is 1 to 128 letters, digits, dots, dashes and underscores, begins with a letter, a digit or an "
        + "underscore, and does not end in -wal, -shm or -journal"

    static let mistakes = [
        Mistake(
            "receive", "--into", "inbox", "--from", "-", "--once",
            error: "--once is for receivers that listen: with --from there is one session"),
        Mistake("send", "a", "--to", "watch", "--to", "kiosk", error: "--to is given twice"),
        Mistake("send", "a", "--to", "./b", "--insecure", error: "--insecure is for TCP"),
        Mistake("send", "a", "--to", "dir:b", "--pad", error: "--pad says nothing of publications yet"),
        Mistake(
            "send", "a", "--to", "dir:b", "--dry-run",
            error: "--dry-run is for links and files, and not for publications"),
        Mistake(
            "receive", "--into", "a", "--metrics", ".",
            error: "the value '.' is invalid for '--metrics <file>': it is a folder: name a file in it, as figures.prom"
        ),
        Mistake(
            "bases", "--add", "a.sqlite",
            error: "say of which store it is: --add COPY STORE; of NAME.base.sqlite it is NAME.sqlite beside it",
            hint: "see `ship-store bases --help`"),
        Mistake("receive", "--into=a", "--into", "b", error: "--into is given twice"),
        Mistake("ship", error: "there is no command ship"),
        Mistake("snd", "a", error: "there is no command snd", hint: "did you mean send?"),
        Mistake("help", "nope", error: "there is no command nope"),
        Mistake("sned", "a", error: "there is no command sned", hint: "did you mean send?"),
        Mistake(
            "receive", "--into", "a", "--listen", "127.0.0.1:7646", "--serve", "127.0.0.1:7646",
            error: "--listen and --serve need an address each"),
        Mistake(
            "receive", "--into", "a", "--from", "dir:b", "--follow", "--poll", "0s", error: "--poll takes 10ms or more"),
        Mistake(
            "receive", "--into", "a", "--metrics", "a/Recipes.sqlite",
            error: "the value 'a/Recipes.sqlite' is invalid for '--metrics <file>': what ends in .sqlite is a store's: "
                + "choose another name, as figures.prom"),
        Mistake(
            "send", "a", "--to", "b", "--metrics", "a-wal",
            error: "the value 'a-wal' is invalid for '--metrics <file>': what ends in -wal is a store's: "
                + "choose another name, as figures.prom"),
        Mistake(
            "send", "a", "--to", "b", "--metrics", "",
            error: "the value '' is invalid for '--metrics <file>': it names no file"),
        Mistake(
            "send", "a", "--to", "./b", "--for", "",
            error: "the value '' is invalid for '--for <file>': it names no file"),
        Mistake("help", "recieve", error: "there is no command recieve", hint: "did you mean receive?"),
        Mistake("demo-writter", "--help", error: "there is no command demo-writter"),
        Mistake(
            "send", "a", error: "say where the shipment goes: --to ENDPOINT, or --listen ADDRESS for who comes for it"),
        Mistake("send", "--to", "-", error: "say which store is to be sent, or with --inbox what is to be passed on"),
        Mistake(
            "send", "--inbox", "a", "--to", "./b.shipment",
            error: "--inbox needs a receiver that answers: HOST:PORT, unix:PATH, exec:COMMAND, or --listen"),
        Mistake(
            "send", "--inbox", "a", "b/c", "--to", "watch",
            error: "b/c is no name of a store: with --inbox, say what `ship-store list` shows"),
        Mistake(
            "send", "--inbox", "a", "--relay", "--to", "watch",
            error: "--inbox and --relay exclude each other: what is passed on is signed already"),
        Mistake(
            "send", "--inbox", "a", "--linked", "--to", "watch",
            error:
                "with --inbox shipments go as they were signed: --name, --replace, --meta, --linked, --allow-missing-external and what leaves "
                + "something out say nothing"
        ),
        Mistake(
            "send", "--inbox", "a", "--meta", "a=b", "--to", "watch",
            error:
                "with --inbox shipments go as they were signed: --name, --replace, --meta, --linked, --allow-missing-external and what leaves "
                + "something out say nothing"
        ),
        Mistake(
            "send", "a", "--to", "dir:b", "--follow", "--memory", "1M",
            error:
                "--memory is for copies that are remembered, in their usual place: it says nothing with --inbox, --no-remember, "
                + "--temporary-folder or a publication"
        ),
        Mistake(
            "send", "a", "--to", "dir:b", "--reissue", "1h", error: "--reissue says something only with --follow"),
        Mistake("send", "a", "--to", "dir:b", "--follow", "--reissue", "20ms", error: "--reissue takes 1s or more"),
        Mistake(
            "send", "a", "--to", "watch", "--follow", "--reissue", "1h",
            error: "--rollout and --reissue are for publications"),
        Mistake(
            "send", "a", "--relay", "--to", "./b.shipment",
            error: "--relay is for receivers that answer; --sign signs files"),
        Mistake("send", "a", "b", "--to", "-", "--name", "c", error: "--name is for one store"),
        Mistake("send", "a", "--to", "-", "--instantly", error: "unknown option '--instantly'"),
        Mistake("send", "a", "--to", "-", "--quite", error: "unknown option '--quite'", hint: "did you mean --quiet?"),
        Mistake("send", "a", "--too", "b", error: "unknown option '--too'", hint: "did you mean --to?"),
        Mistake(
            "copy", "a", "--to", "b", "--keep", "3", error: "unknown option '--keep'",
            hint: "did you mean --keep-free?"),
        Mistake(
            "send", "-shop.sqlite", "--to", "-", error: "unknown option '-shop.sqlite'",
            hint: "a path that begins with a dash is written ./-shop.sqlite"),
        Mistake("list", "--int=a", error: "unknown option '--int'", hint: "did you mean --into?"),
        Mistake(
            "send", "a", "--to", "ftp://watch:7645",
            error: "the value 'ftp://watch:7645' is invalid for '--to <endpoint>': a publication is dir:PATH, "
                + "https://HOST/PATH without a query, or s3://BUCKET/PREFIX with a bucket of 3 to 63 letters, digits, "
                + "dots, dashes and underscores; a device is HOST:PORT, and a file ./NAME"),
        Mistake(
            "send", "a", "--to", "watch:70000",
            error: "the value 'watch:70000' is invalid for '--to <endpoint>': "
                + "a port is a number from 1 to 65535, or 0 where one listens"),
        Mistake(
            "send", "a", "--to", "watch:0",
            error: "the value 'watch:0' is invalid for '--to <endpoint>': "
                + "a port is a number from 1 to 65535, or 0 where one listens"),
        Mistake(
            "send", "a", "--to", "7645",
            error:
                "the value '7645' is invalid for '--to <endpoint>': that is a port without a host, as in 127.0.0.1:7645"
        ),
        Mistake(
            "send", "a", "--to", "::1",
            error: "the value '::1' is invalid for '--to <endpoint>': "
                + "an IPv6 address stands in brackets, as in [::1]:7645"),
        Mistake(
            "send", "a", "--to", "my watch",
            error: "the value 'my watch' is invalid for '--to <endpoint>': "
                + "my watch is not a host's name; a file is written ./NAME or NAME.shipment"),
        Mistake(
            "send", "a", "--to", ":7645",
            error: "the value ':7645' is invalid for '--to <endpoint>': the host is missing"),
        Mistake(
            "send", "a", "--to", "unix:",
            error: "the value 'unix:' is invalid for '--to <endpoint>': something is missing after it"),
        Mistake(
            "send", "a", "--to", "-", "--name", "../a",
            error: "the value '../a' is invalid for '--name <name>': \(nameRule)"),
        Mistake(
            "send", "a", "--to", "-", "--name", "a.sqlite-wal",
            error: "the value 'a.sqlite-wal' is invalid for '--name <name>': \(nameRule)"),
        Mistake(
            "send", "a", "--to", "-", "--level", "10",
            error: "the value '10' is invalid for '--level <level>': a level is auto or a number from 1 to 9"),
        Mistake(
            "send", "a", "--to", "-", "--meta", "model",
            error: "the value 'model' is invalid for '--meta <key=value>': a pair is written key=value"),
        Mistake(
            "send", "a", "--to", "-", "--meta", "a b=1",
            error: "a metadata key is 1 to 64 letters, digits, dots, dashes or underscores"),
        Mistake("send", "a", "--to", "-", "--meta", "a=1", "--meta", "a=2", error: "--meta gives a twice"),
        Mistake("send", "a", "--to", "-", "--json", error: "--json and --to - both want standard output"),
        Mistake(
            "send", "a", "--to", "-", "--busy-timeout", "soon",
            error: "the value 'soon' is invalid for '--busy-timeout <seconds>': "
                + "a time is a number of seconds above 0 and up to 86400"),
        Mistake(
            "send", "a", "--to", "-", "--idle-timeout", "nan",
            error: "the value 'nan' is invalid for '--idle-timeout <seconds>': "
                + "a time is a number of seconds above 0 and up to 86400"),
        Mistake("receive", error: "missing expected argument '--into <folder>'"),
        Mistake(
            "receive", "--into", "", "--from", "-",
            error: "the value '' is invalid for '--into <folder>': it names no folder; . is the working directory"),
        Mistake(
            "receive", "--into", "a", "--listen", "-",
            error: "the value '-' is invalid for '--listen <address>': one can listen on HOST:PORT or unix:PATH only"),
        Mistake(
            "receive", "--into", "a", "--listen", "127.0.0.1:0", "--from", "-",
            error: "--listen and --from exclude each other"),
        Mistake("receive", "--into", "a", "--keep", "0", error: "--keep takes a number from 1 on"),
        Mistake(
            "receive", "--into", "a", "--keep-for", "7 days",
            error: "the value '7 days' is invalid for '--keep-for <time>': "
                + "a time is a number and a unit, as in 90s, 15m, 12h, 7d or 2w, and at most a hundred years"),
        Mistake(
            "receive", "--into", "a", "--model-subset", error: "--model-subset says something only with --model"),
        Mistake(
            "receive", "--into", "a", "--schema-digest", "12",
            error: "the value '12' is invalid for '--schema-digest <digest>': a digest is 64 hexadecimal digits"),
        Mistake(
            "receive", "--into", "a", "--user-version", "7..5",
            error: "the value '7..5' is invalid for '--user-version <range>': "
                + "a user_version is a number of 32 bits, or two with .. between them, the lower first"),
        Mistake(
            "receive", "--into", "a", "--probe", "SELECT 1; SELECT 2",
            error: "the value 'SELECT 1; SELECT 2' is invalid for '--probe <sql>': a probe is one statement"),
        Mistake(
            "receive", "--into", "a", "--probe", "DROP TABLE a",
            error: "the value 'DROP TABLE a' is invalid for '--probe <sql>': "
                + "a probe only reads"),
        Mistake(
            "receive", "--into", "a", "--probe", "SELEC 1",
            error: "the value 'SELEC 1' is invalid for '--probe <sql>': "
                + "SQLite does not understand it: near \"SELEC\": syntax error"),
        Mistake("adopt", "a", error: "missing expected argument '--into <folder>'"),
        Mistake("copy", "a", "--as", "b", "--keep-in", "c", error: "--as names a copy in the folder of --to"),
        Mistake("rollback", "a", error: "missing expected argument '--into <folder>'"),
        Mistake("rollback", "--into", "a", error: "missing expected argument '<name>'"),
        Mistake(
            "rollback", "a", "--into", "b", "--to", "1", "--allow-again",
            error: "--to and --allow-again exclude each other"),
        Mistake(
            "rollback", "a", "--into", "b", "--release", "--allow-again",
            error: "--release and --allow-again exclude each other"),
        Mistake("rollback", "a", "--into", "b", "--to", "0", error: "generations are numbered from 1"),
        Mistake("prune", error: "missing expected argument '--into <folder>'"),
        Mistake("prune", "--into", "a", "--keep", "0", error: "--keep takes a number from 1 on"),
        Mistake("prune", "--into", "a", "--keep", "-1", error: "--keep takes a number from 1 on"),
        Mistake("copy", "a", error: "say one of --to, --as and --keep-in"),
        Mistake("copy", "a", "--to", "b", "--keep-in", "c", error: "say one of --to, --as and --keep-in"),
        Mistake("copy", "a", "b", "--to", "c", "--as", "d", error: "--as names the copy of one store"),
        Mistake("copy", "a", "--to", "c", "--tag", "d", error: "--tag and --meta are kept with --keep-in"),
        Mistake("copies", "--in", "a", "--keep", "3", error: "--keep, --keep-for and --dry-run belong to --prune"),
        Mistake(
            "copies", "--in", "a", "--prune", "--keep", "1", "--keep-for", "3y",
            error:
                "the value '3y' is invalid for '--keep-for <time>': a time is a number and a unit, as in 90s, 15m, 12h, 7d or 2w, and at most a hundred years"
        ),
        Mistake("restore", "a", error: "missing expected argument '--over <store>'"),
        Mistake(
            "restore", "a", "--over", "b", "--no-safety-copy", "--safety-copies", "c",
            error: "--safety-copies and --no-safety-copy contradict each other"),
        Mistake(
            "move", "a", "--to", "b", "--incomplete",
            error: "--any-identity, --incomplete, --damaged, --no-safety-copy and --safety-copies belong to --replace"),
        Mistake("copies", "--in", "a", "--in", "b", error: "--in is given twice"),
        Mistake("move", "a", error: "missing expected argument '--to <folder>'"),
        Mistake("destroy", error: "missing expected argument '<store>'"),
        Mistake("list", error: "missing expected argument '--into <folder>'"),
        Mistake("verify", error: "missing expected argument '<path>'"),
        Mistake("inspect", error: "missing expected argument '<path>'"),
    ]

    @Test func `a number below 0 that may be one is taken after an equals sign`() async throws {
        let desk = try Desk()
        try await desk.run("receive", "--into", "a", "--from", "b", "--user-version", "-3").expectFailure(
            64, "-3 is taken for an option", hint: "write --user-version=-3")
    }

    @Test(arguments: mistakes)
    func `a mistake is said, and where to read on`(mistake: Mistake) async throws {
        let desk = try Desk()
        let commands: Set = [
            "send", "receive", "adopt", "list", "rollback", "prune", "copy", "copies", "restore", "move", "destroy",
            "verify",
            "inspect",
        ]
        let command = mistake.arguments.first.flatMap { commands.contains($0) ? "\($0) " : nil } ?? ""
        try await desk.run(mistake.arguments).expectFailure(
            64, mistake.error, hint: mistake.hint ?? "see `ship-store \(command)--help`")
        #expect(try desk.leftovers == [])
        #expect(try Folder.names(in: desk.path) == [])
    }

    @Test(arguments: [
        "send", "receive", "adopt", "list", "rollback", "prune", "copy", "copies", "restore", "move", "destroy",
        "verify",
        "inspect", "demo",
    ])
    func `the help of each command has an example`(command: String) async throws {
        let help = try await Desk().run(command, "--help").expectSuccess()
        #expect(help.stderr == "")
        #expect(help.lines.contains { $0.hasPrefix("  ship-store \(command)") })
        #expect(help.lines.allSatisfy { $0.count <= 80 })
    }

    /// A line that the parser wraps is another command for who copies it.
    @Test func `no example of a help text is wrapped`() async throws {
        let desk = try Desk()
        for command in try await desk.run("--help").lines.compactMap({ $0.firstMatch(of: #/^  ([a-z]+) /#)?.1 }) {
            let narrow = try await desk.shell("COLUMNS=80 $SHIP \(command) --help").lines
            let wide = try await desk.shell("COLUMNS=1000 $SHIP \(command) --help").lines
            #expect(narrow.filter { $0.hasPrefix("  ship-store") } == wide.filter { $0.hasPrefix("  ship-store") })
            // What goes on below the first line is told by a backslash.
            for (line, next) in zip(narrow, narrow.dropFirst())
            where line.hasPrefix("  ship-store") && next.hasPrefix("    ") {
                #expect(line.hasSuffix("\\"), "\(line)")
            }
        }
    }

    @Test func `the program says its version, and what it can do`() async throws {
        let version = try await Desk().run("--version").expectSuccess()
        #expect(version.lines == ["0.1.0"])
        for arguments in [[], ["--help"], ["help"]] {
            let help = try await Desk().run(arguments).expectSuccess()
            for command in [
                "send", "receive", "adopt", "list", "rollback", "prune", "copy", "copies", "restore", "move", "destroy",
                "verify",
                "inspect", "demo",
            ] {
                #expect(help.stdout.contains("\n  \(command) "))
            }
        }
    }
}
