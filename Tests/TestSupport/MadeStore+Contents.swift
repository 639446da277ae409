extension MadeStore.Content {
    /// Numbers at the ends of each encoding.
    package static let edges: [Int64] = [
        .min, .min + 1, -(1 << 47) - 1, -(1 << 47), -(1 << 31) - 1, -(1 << 31), -8_388_609, -8_388_608, -32_769,
        -32_768,
        -129, -128, -1, 0, 1, 2, 127, 128, 32_767, 32_768, 8_388_607, 8_388_608, (1 << 31) - 1, 1 << 31, (1 << 47) - 1,
        1 << 47, .max - 1, .max,
    ]

    private static var edge: String {
        let cases = edges.enumerated().map { index, edge in
            "WHEN \(index) THEN \(edge == .min ? "-9223372036854775807 - 1" : String(edge))"
        }
        return "CASE i % \(edges.count) \(cases.joined(separator: " ")) END"
    }

    /// A text of `length` letters at most, in SQL, that differs from row to row.
    private static func text(_ length: String) -> String {
        "substr(printf('%05d-é𝄞-', i * 7919 % 10007) || replace(hex(zeroblob(200)), '00', 'xy'), 1, \(length))"
    }

    private static func bytes(_ length: String) -> String { "CAST(printf('%.*c', \(length), 'b') AS BLOB)" }

    /// Values of all kinds, and indexes of all kinds.
    package static let mixed = Self(
        "mixed",
        [
            MadeTable(
                """
                CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT COLLATE NOCASE, c REAL, d BLOB);
                CREATE INDEX t_a ON t (a, b DESC); CREATE UNIQUE INDEX t_b ON t (b, id);
                CREATE INDEX t_c ON t (c DESC, d); CREATE INDEX t_r ON t (b COLLATE RTRIM, a);
                CREATE INDEX t_part ON t (a) WHERE a > 50; CREATE INDEX t_expression ON t (a + 1, b)
                """,
                "t(id, a, b, c, d)",
                """
                CASE WHEN i < 600 THEN i - 40 ELSE (i - 599) * 4611686018427387 END,
                CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN i / 7.0 WHEN 2 THEN \(text("12")) ELSE \(edge) END,
                CASE i % 3 WHEN 0 THEN upper(\(text("i % 190"))) ELSE \(text("i % 190")) || '  ' END,
                CASE i % 4 WHEN 0 THEN i * 1.0 WHEN 1 THEN i / 3.0 WHEN 2 THEN 0.0 END, \(bytes("i % 60"))
                """, count: 700, comeAndGo: "id % 2"),
            MadeTable(
                "CREATE TABLE empty (a, b); CREATE INDEX empty_i ON empty (a)", "empty(rowid)", "i", count: 0,
                comeAndGo: "0"),
            MadeTable(
                """
                CREATE TABLE w (k TEXT, n INTEGER, v, PRIMARY KEY (n DESC, k)) WITHOUT ROWID;
                CREATE INDEX w_v ON w (v)
                """,
                "w(k, n, v)", "\(text("5")), i % 7 - 3, CASE WHEN i % 5 THEN \(text("i % 250")) END", count: 400,
                comeAndGo: "n > 0"),
            MadeTable(
                """
                CREATE TABLE g (id INTEGER PRIMARY KEY AUTOINCREMENT, a INTEGER, c AS (a * 2) STORED,
                  e AS (a || 'x') VIRTUAL, f BOOL); CREATE INDEX g_c ON g (c DESC); CREATE INDEX g_e ON g (e);
                CREATE INDEX g_f ON g (f)
                """,
                "g(id, a, f)", "i + 1, i % 100, i & 1", count: 300, comeAndGo: "a % 3 = 1"),
        ],
        more: """
            CREATE VIEW v AS SELECT a FROM t; PRAGMA user_version = -5; PRAGMA application_id = 1179011410;
            CREATE TRIGGER gone AFTER INSERT ON t BEGIN DELETE FROM empty; END; ANALYZE;
            """)

    /// Cells at the ends of what fits into a page, in tables and in indexes.
    package static func longRows(pageSize: Int) -> Self {
        let quarter = (pageSize - 12) * 64 / 255 - 23
        func choice(_ lengths: [Int]) -> String {
            "CASE i % \(lengths.count) "
                + lengths.enumerated().map { "WHEN \($0) THEN \(max(0, $1))" }.joined(separator: " ") + " END"
        }
        let rows = choice(
            [0, 1] + [-45, -39, -38, -37, -36, -35, -4, 0].map { pageSize + $0 } + [2 * pageSize - 9, 5 * pageSize])
        let keys = choice([0, 1, 2] + (-8...1).map { quarter + $0 } + [quarter + 9, pageSize - 20, 3 * pageSize])
        return Self(
            "long rows",
            [
                MadeTable(
                    "CREATE TABLE blobs (id INTEGER PRIMARY KEY, body)", "blobs(id, body)", "i * 3, \(bytes(rows))",
                    count: 72, comeAndGo: "id % 4"),
                MadeTable(
                    "CREATE TABLE keys (id INTEGER PRIMARY KEY, k, t); CREATE INDEX keys_i ON keys (k, t DESC)",
                    "keys(id, k, t)", "i * 2, printf('%03d', i % 50) || \(bytes(keys)), 'x'", count: 90,
                    comeAndGo: "id % 3 = 0"),
                MadeTable(
                    "CREATE TABLE keyed (k PRIMARY KEY, t) WITHOUT ROWID", "keyed(k, t)",
                    "printf('%03d', i) || \(bytes(keys)), \(bytes("i * 9"))", count: 90, comeAndGo: "k < '030'"),
            ])
    }

    /// Rows of more than 256 KiB, in a table that has indexes.
    package static let veryLongRows = Self(
        "very long rows",
        [
            MadeTable(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, a, body, b); CREATE INDEX t_b ON t (b, a); CREATE INDEX t_a ON t (a)",
                "t(id, a, body, b)",
                "i - 3, \(edge), CASE WHEN i % 4 THEN zeroblob(262000 + 40 * i) ELSE 'short' END, \(text("20"))",
                count: 12,
                comeAndGo: "id % 2"),
            MadeTable(
                "CREATE TABLE w (k TEXT PRIMARY KEY, body, n) WITHOUT ROWID", "w(k, body, n)",
                "\(text("9")), zeroblob(100000 * i), \(edge)", count: 4, comeAndGo: "n > 0"),
        ])

    /// Trees of many sizes, so that each end of a page and of a level comes about.
    package static let counts = Self(
        "counts",
        (Array(0..<130) + [240, 437, 438, 439]).map { count in
            MadeTable(
                "CREATE TABLE t\(count) (id INTEGER PRIMARY KEY, k TEXT); CREATE INDEX i\(count) ON t\(count) (k)",
                "t\(count)(id, k)", "i, printf('%05d', i) || substr(hex(zeroblob(40)), 1, \(30 + count % 41))",
                count: count, comeAndGo: "id % 3 = 1")
        })

    /// Trees of four levels and more.
    package static let deep = Self(
        "deep",
        [
            MadeTable(
                "CREATE TABLE t (k TEXT PRIMARY KEY, n) WITHOUT ROWID", "t(k, n)",
                "printf('%07d', i) || substr(hex(zeroblob(40)), 1, 70 + i % 3), i", count: 1500, comeAndGo: "n % 3 = 2"),
            MadeTable("CREATE TABLE r (n INTEGER)", "r(rowid, n)", "i << 41, 1", count: 6000, comeAndGo: "rowid % 2"),
        ])

    /// A schema of several levels, with rows that are longer than a page.
    package static let manyTables = Self(
        "many tables",
        (0..<500).map { number in
            let remark = number % 90 == 3 ? " -- " + String(repeating: "a remark that takes room ", count: 60) : ""
            let index = number % 3 == 0 ? "; CREATE INDEX some_index_\(number) ON some_table_\(number) (b)" : ""
            return MadeTable(
                "CREATE TABLE some_table_\(number) (a, b\(remark)\n)\(index)", "some_table_\(number)(rowid)", "i",
                count: 0, comeAndGo: "0")
        })

    /// A root of the schema that fits into page 1, or does not, by a few bytes.
    package static func schema(ofLength length: Int) -> Self {
        let spaces = String(repeating: " ", count: length)
        return Self(
            "schema of \(length)",
            [MadeTable("CREATE TABLE a (b\(spaces))", "a(rowid, b)", "i, i", count: 3, comeAndGo: "1")])
    }

    /// Rows from before and after `ALTER TABLE ADD COLUMN`.
    package static let addedColumns = Self(
        "added columns",
        [
            MadeTable(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, a)", "t(id, a)", "i, i", count: 300, comeAndGo: "id % 3 = 1")
        ],
        more: """
            ALTER TABLE t ADD COLUMN b DEFAULT 'none'; ALTER TABLE t ADD COLUMN c;
            WITH RECURSIVE n(i) AS (SELECT 300 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
            INSERT INTO t SELECT i, i, i, i FROM n; CREATE INDEX t_b ON t (b); CREATE INDEX t_a ON t (a)
            """)

    package static let virtual = Self(
        "virtual",
        [
            MadeTable(
                """
                CREATE VIRTUAL TABLE f USING fts5 (body, tokenize = 'porter');
                CREATE VIRTUAL TABLE g USING fts4 (body); CREATE TABLE s (id INTEGER PRIMARY KEY, x);
                CREATE VIRTUAL TABLE r USING rtree (id, x0, x1, y0, y1)
                """, "s(id, x)", "i, i", count: 200, comeAndGo: "0")
        ],
        more: """
            INSERT INTO f(rowid, body) SELECT id, 'row ' || id || ' of many words ' || id % 7 FROM s;
            INSERT INTO g(docid, body) SELECT id, 'row ' || id || ' of some words ' || id % 9 FROM s;
            INSERT INTO r SELECT id, id % 17, id % 17 + 3, id % 29, id % 29 + 1 FROM s;
            """)

    /// Long rows up to 1.1 GB, and what comes after them.
    package static let overOneGibibyte = Self(
        "over 1 GiB",
        [
            MadeTable(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, body)", "t(id, body)", "i, \(bytes("1000000 + i")) || i",
                count: 1100, comeAndGo: "0"),
            MadeTable(
                "CREATE TABLE after (id INTEGER PRIMARY KEY, k TEXT); CREATE INDEX after_k ON after (k)",
                "after(id, k)",
                "i, \(text("40"))", count: 20_000, comeAndGo: "0"),
        ])

    /// A few pages of each kind.
    package static let hostile = Self(
        "hostile",
        [
            MadeTable(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); CREATE INDEX t_a ON t (a)", "t(id, a, b)",
                "i * 7, printf('%03d', i) || \(text("i % 120")), \(edge)", count: 20, comeAndGo: "0"),
            MadeTable(
                "CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID", "w(k, v)", "i, \(bytes("i * 80"))", count: 12,
                comeAndGo: "0"),
        ])

    package static let nothing = Self("nothing", [], more: "PRAGMA user_version = 3")
}

extension MadeStore {
    /// Stores of every shape.
    package static let all: [MadeStore] =
        [512, 4096, 65_536].flatMap { pageSize in
            [
                MadeStore(.mixed, pageSize: pageSize),
                MadeStore(.mixed, pageSize: pageSize, autoVacuum: "FULL"),
                MadeStore(.longRows(pageSize: pageSize), pageSize: pageSize, autoVacuum: "INCREMENTAL"),
            ]
        }
        + ["UTF-16le", "UTF-16be"].flatMap { encoding in
            [
                MadeStore(.mixed, encoding: encoding),
                MadeStore(.virtual, encoding: encoding, autoVacuum: "FULL"),
            ]
        } + [
            MadeStore(.mixed, reservedBytes: 255),
            MadeStore(.longRows(pageSize: 512), pageSize: 512, autoVacuum: "FULL", reservedBytes: 32),
            MadeStore(.longRows(pageSize: 512), pageSize: 512, reservedBytes: 7),
            MadeStore(.longRows(pageSize: 2048), pageSize: 2048),
            MadeStore(.veryLongRows, pageSize: 4096, autoVacuum: "FULL"),
            MadeStore(.veryLongRows, pageSize: 65_536),
            MadeStore(.counts, pageSize: 512),
            MadeStore(.counts, pageSize: 512, autoVacuum: "INCREMENTAL"),
            MadeStore(.deep, pageSize: 512),
            MadeStore(.deep, pageSize: 512, autoVacuum: "FULL"),
            MadeStore(.manyTables, pageSize: 512, autoVacuum: "FULL"),
            MadeStore(.manyTables, pageSize: 8192),
            MadeStore(.addedColumns), MadeStore(.virtual), MadeStore(.nothing),
            MadeStore(.nothing, pageSize: 32_768, autoVacuum: "FULL"),
        ]
        + stride(from: 310, to: 440, by: 3).map { length in
            MadeStore(.schema(ofLength: length), pageSize: 512, autoVacuum: length % 2 == 0 ? "NONE" : "FULL")
        }
}
