"""Ways to damage a store: bytes of its pages, the structures of SQLite's file format, and the words of its schema.

Each is drawn by a seed. What comes out has no right digest, and may be no store any more.
Source: sqlite.org/fileformat2.html."""
import hashlib
import os
import sqlite3
import struct

LEAVES = {0x0D: "table", 0x0A: "index"}
INTERIOR = {0x05: "table", 0x02: "index"}
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)  # what SQLite says may be no text


def varint(content, at):
    """Returns a value, and where the next one begins."""
    value = 0
    for place in range(9):
        if at + place >= len(content):
            return value, len(content)
        byte = content[at + place]
        if place == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value, at


class Pages:
    """The bytes of a store that is damaged, page by page."""

    def __init__(self, content):
        self.content = bytearray(content)
        self.size = {1: 65_536}.get(size := int.from_bytes(content[16:18], "big"), size)
        self.count = len(content) // self.size

    def start(self, page):
        return (page - 1) * self.size

    def header(self, page):
        return self.start(page) + (100 if page == 1 else 0)

    def kind(self, page):
        return self.content[self.header(page)]

    def all(self, kinds):
        return [page for page in range(1, self.count + 1) if self.kind(page) in kinds]

    def cells(self, page):
        """Where the pointers to cells are, and where each leads."""
        header = self.header(page)
        first = header + (12 if self.kind(page) in INTERIOR else 8)
        count = int.from_bytes(self.content[header + 3:header + 5], "big")
        places = [first + 2 * n for n in range(min(count, (self.start(page) + self.size - first) // 2))]
        return [(at, self.start(page) + int.from_bytes(self.content[at:at + 2], "big")) for at in places]

    def payload(self, page, cell):
        """Where the record of a leaf's cell begins, and where the number of its first overflow page is, if it has one."""
        size, at = varint(self.content, cell)
        is_table = self.kind(page) == 0x0D
        if is_table:
            at = varint(self.content, at)[1]
        most = self.size - 35 if is_table else (self.size - 12) * 64 // 255 - 23
        if size <= most:
            return at, None
        least = (self.size - 12) * 32 // 255 - 23
        local = least + (size - least) % (self.size - 4)
        return at, at + (local if local <= most else least)

    def put(self, at, value, size=4):
        self.content[at:at + size] = (value % 256 ** size).to_bytes(size, "big")

    def write(self, at, written):
        self.content[at:at + len(written)] = written

    def number(self, at):
        return int.from_bytes(self.content[at:at + 4], "big")


def bytes_of_page(pages, chance, page):
    size, count, start = pages.size, pages.count, pages.start(page)
    content, at, way = pages.content, start + chance.randrange(size), chance.randrange(6)
    if way == 0:
        content[at] ^= 1 << chance.randrange(8)
    elif way == 1:  # of a page's header, or of its cells' places
        at = pages.header(page) + chance.randrange(24)
        pages.write(at, chance.choice([b"\0\0", b"\xff\xff", chance.randbytes(2)]))
    elif way == 2:  # another page
        other = pages.start(chance.randrange(count) + 1)
        pages.write(start, content[other:other + size])
    elif way == 3:
        pages.write(at, chance.randbytes(chance.randrange(1, 64)))
    elif way == 4:  # the size of a cell, as large as it can be written
        pages.write(at, b"\xff" * 9)
    else:
        pages.put(at, chance.randrange(count + 2))


def database_header(pages, chance, _):
    at, size, values = chance.choice([
        (18, 2, [0x0102, 0x0201, 0x0303]), (20, 1, [1, 32, 255]), (21, 3, [0, 0x402021]), (24, 4, [0, 7]), (28, 4, [0, 1, pages.count + 1]),
        (32, 4, [1, 2, pages.count, 1 << 31]), (36, 4, [1, pages.count, 1 << 31]), (44, 4, [0, 1, 2, 5, 1 << 31]), (48, 4, [1, 1 << 31]),
        (52, 4, [0, 1, 2, pages.count, 1 << 31]), (56, 4, [0, 1, 2, 3, 4]), (64, 4, [0, 1]), (92, 4, [0, 1])])
    pages.put(at, chance.choice(values), size)


def record(pages, chance, page):
    """A record whose header says another size, or other types, than it has."""
    cells = pages.cells(page)
    if pages.kind(page) not in LEAVES or not cells:
        return
    at, _ = pages.payload(page, chance.choice(cells)[1])
    if chance.random() < 0.5:  # the size of its header
        pages.write(at, chance.choice([b"\0", b"\x01", b"\x7f", b"\x80\x01", b"\xff\x7f", b"\xff" * 9]))
    else:  # a type
        types = [b"\x0a", b"\x0b", b"\x06", b"\x07", b"\x09", b"\x7f", b"\xff\xff\xff\xff\x7f", b"\xff" * 9]
        pages.write(at + chance.randrange(1, 6), chance.choice(types))


def overflow(pages, chance, _):
    """A chain that loops, ends early, or leads to what is in use."""
    links = [link for page in pages.all(LEAVES) for _, cell in pages.cells(page) if (link := pages.payload(page, cell)[1])]
    if not links:
        return
    at = chance.choice(links)
    for _ in range(chance.randrange(4)):
        following = pages.number(at)
        if not 1 <= following <= pages.count:
            break
        at = pages.start(following)
    own = at // pages.size + 1
    pages.put(at, chance.choice([own, 0, 1, pages.number(chance.choice(links)), chance.randrange(1, pages.count + 2)]))


def freelist(pages, chance, page):
    """A trunk that is in use, or new and lists what is in use, or itself."""
    if chance.random() < 0.5:
        pages.put(32, page)
    else:
        pages.content += bytes(pages.size)
        pages.count += 1
        pages.put(28, pages.count)
        pages.put(32, pages.count)
        trunk = pages.start(pages.count)
        pages.put(trunk, chance.choice([0, 0, pages.count, page]))
        entries = [chance.choice([page, pages.count, chance.randrange(pages.count + 2)]) for _ in range(chance.choice([0, 1, 2, 20]))]
        pages.put(trunk + 4, chance.choice([len(entries), len(entries), pages.size // 4, (1 << 32) - 1]))
        for place, entry in enumerate(entries):
            pages.put(trunk + 8 + 4 * place, entry)
    pages.put(36, chance.choice([0, 1, 2, pages.count, (1 << 32) - 1]))


def pointer_map(pages, chance, _):
    """An entry that says another kind, or another parent; where the store has no map, it says that it has one."""
    if not pages.number(52):
        pages.put(52, chance.randrange(1, pages.count + 1))
    entry = pages.start(2) + 5 * chance.randrange(min(pages.count, pages.size // 5))
    pages.put(entry, chance.randrange(7), 1)
    pages.put(entry + 1, chance.choice([0, 1, 2, chance.randrange(pages.count + 2)]))


def order(pages, chance, page):
    """Cells in another order, or twice."""
    cells = pages.cells(page)
    if len(cells) < 2:
        return
    (one, to), (other, too) = chance.sample(cells, 2)
    pages.put(one, too - pages.start(page), 2)
    if chance.random() < 0.7:
        pages.put(other, to - pages.start(page), 2)


def tree(pages, chance, page):
    """A child that is its own parent, belongs to another tree, or is of the other kind."""
    interior = pages.all(INTERIOR)
    if not interior or chance.random() < 0.3:
        pages.put(pages.header(page), chance.choice([*LEAVES, *INTERIOR]), 1)
        return
    page = chance.choice(interior)
    at = chance.choice([pages.header(page) + 8, *(cell for _, cell in pages.cells(page))])
    pages.put(at, chance.choice([page, 1, chance.choice(interior), chance.randrange(1, pages.count + 1)]))


STRUCTURES = [database_header, record, overflow, freelist, pointer_map, order, tree]


def damaged(store, page, chance, ways=(bytes_of_page,)):
    """A store with a page that is not what SQLite wrote, and others perhaps."""
    pages = Pages(store)
    for _ in range(chance.choice([1, 1, 2, 5])):
        chance.choice(ways)(pages, chance, page)
    return bytes(pages.content[:pages.count * pages.size])  # a cell may have led past the end


# The words of schemas.

CALLS = [
    "abs(%s)", "hex(%s)", "zeroblob(%s)", "randomblob(1000000 + %s)", "printf('%%.*c', 1000000000, %s)", "load_extension(%s)",
    "replace(hex(zeroblob(90000)), '0', %s)", "fts3_tokenizer(%s)", "sqlite_log(1, %s)", "json_extract('[[[' , %s)",
    "like('%%_%%_%%_%%a', %s)", "no_such(%s)", "instr(hex(zeroblob(90000)), %s)", "raise(abort, %s)", "unlikely(%s)", "char(%s)",
    "unicode(%s)", "count(*) OVER (ORDER BY %s)", "max(%s)",
]
MODULES = [
    "fts5(x, tokenize = '%s')", "fts4(x, tokenize = %s)", "fts3(x)", "rtree(a, b, c)", "rtree(a, b)", "dbstat", "json_each", "sqlite_stmt",
    "geopoly(a)", "fts5vocab('x', 'row')", "csv(filename = '/etc/passwd')", "no_such('%s')",
    "fts5(x, content = 't0', content_rowid = '%s')",
]
NAMES = [
    "t0", "t1", "i0", "sqlite_master", "sqlite_stat1", "sqlite_sequence", "sqlite_stat4", "x", "", "\0", "\ud7ff" * 50, "n" * 70_000, '"',
    "t0_content", "g", "w", "f",
]
OPERATORS = ["+", "||", "%", "<<", "AND", "IS", "GLOB", "COLLATE nocase ||", "IN"]


def expression(chance, depth):
    if depth <= 0:
        return chance.choice(["c0", "c1", "1", "NULL", "'a'", "x'00'", "1e999", "rowid", "*", "-9223372036854775808", "?1", '"c0"', ":a"])
    way, inner = chance.randrange(8), expression(chance, depth - 1)
    if way < 3:
        return chance.choice(CALLS).replace("%s", inner, 1).replace("%%", "%")
    if way == 3:
        return f"{inner} {chance.choice(OPERATORS)} {expression(chance, depth - 1)}"
    if way == 4:
        return f"CASE {inner} WHEN 1 THEN {expression(chance, depth - 1)} END"
    if way == 5:
        return "(" * (nested := chance.choice([1, 1, 1, 20, 400])) + inner + ")" * nested
    if way == 6:
        return f"(SELECT {inner} FROM {chance.choice(NAMES[:7])})"
    return f"(WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) + {inner} FROM r)"


def statement(chance, kind, name, sql):
    """What an entry of the schema may say in place of `sql`."""
    value = expression(chance, chance.randrange(4))
    quoted = '"' + name.replace('"', '""') + '"'
    if kind == "view":
        return f"CREATE VIEW {quoted} AS SELECT {value} FROM {chance.choice(['t0', 'x', quoted, 'sqlite_master, t0'])}"
    if kind == "trigger":
        return f"CREATE TRIGGER {quoted} {chance.choice(['AFTER INSERT', 'BEFORE DELETE', 'INSTEAD OF UPDATE'])} ON t0 BEGIN " \
               f"INSERT INTO t0 SELECT {value}; DELETE FROM sqlite_master; END"
    if kind == "index":
        where = f" WHERE {expression(chance, 1)}" if chance.random() < 0.3 else ""
        return f"CREATE {chance.choice(['', 'UNIQUE '])}INDEX {quoted} ON {chance.choice(['t0', 't1', 'g'])} " \
               f"({value} {chance.choice(['', 'DESC'])}){where}"
    way = chance.randrange(9)
    if way == 0:
        return f"CREATE VIRTUAL TABLE {quoted} USING {chance.choice(MODULES).replace('%s', value)}"
    extra = {
        1: f"g AS ({value})", 2: f"g AS ({value}) STORED NOT NULL", 3: f"CHECK ({value})", 4: f"d DEFAULT ({value})",
        5: f"UNIQUE ({value})", 6: f"PRIMARY KEY ({chance.choice(['c0', 'c0, c0', 'c9', value])})",
        7: "FOREIGN KEY (c0) REFERENCES t0 (c0) ON DELETE CASCADE",
    }.get(way)
    if extra and sql and sql.startswith("CREATE TABLE") and chance.random() < 0.7:  # its rows fit
        last = sql.rindex(")")
        return f"{sql[:last]}, {extra}{sql[last:]}"
    listed = ["c0 INT", "c1"] + [f"v{n} INT" for n in range(chance.choice([0, 0, 0, 0, 70, 1990, 2100]))] + [extra] * bool(extra)
    end = chance.choice(["", "", "", "", " WITHOUT ROWID", " STRICT", " AS SELECT 1", ";", "--", " /*"])
    return f"CREATE TABLE {quoted} ({', '.join(listed)}){end}"


def schema_damaged(store, chance, path):
    """A store in whose schema entries are changed or new, mostly so that SQLite still takes it for a schema."""
    for _ in range(20):
        content = _schema_changed(store, chance, path)
        database = sqlite3.connect(path)
        try:
            database.execute("SELECT 1 FROM sqlite_schema")
            break
        except UNREADABLE:
            if chance.random() < 0.1:
                break
        finally:
            database.close()
    return content


def _schema_changed(store, chance, path):
    with open(path, "wb") as file:
        file.write(store)
    database = sqlite3.connect(path, isolation_level=None)
    try:
        database.execute("PRAGMA writable_schema = ON")
        entries = database.execute("SELECT rowid, type, name, rootpage, sql FROM sqlite_schema").fetchall()
        version = chance.randrange(1, 100)
        for _ in range(chance.choice([1, 1, 2, 6])):
            entry, kind, name, root, sql = chance.choice(entries)
            way = chance.randrange(10)
            if way < 4:  # the words of what is there
                changes = {"sql": statement(chance, kind, name, sql)}
            elif way == 4:  # a root that is another's, or none
                changes = {"rootpage": chance.choice([0, 1, -1, 2, root, chance.choice(entries)[3], 1 << 31, 1 << 62, "a", None])}
            elif way == 5:
                column = chance.choice(["type", "name", "tbl_name"])
                changes = {column: chance.choice([*NAMES, "table", "index", "view", b"\xff\xfe", 7, None])}
            elif way == 6:  # words that break off, or have an end within them
                words = sql or ""
                cut = words[:chance.randrange(1 + len(words))]
                changes = {"sql": chance.choice([cut, words.replace(" ", "\0", 1), b"\xff" * 9, "", None])}
            else:
                kind, name = chance.choice(["view", "trigger", "index", "table"]), chance.choice(NAMES)
                database.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", (
                    kind, name, chance.choice([name, "t0"]), chance.choice([0, 0, root]), statement(chance, kind, name, None)))
                continue
            for column, value in changes.items():
                database.execute(f"UPDATE sqlite_schema SET {column} = ? WHERE rowid = ?", (value, entry))
        database.execute(f"PRAGMA schema_version = {version}")
    except UNREADABLE:  # it went as far as SQLite lets it
        pass
    finally:
        database.close()
    with open(path, "rb") as file:
        return file.read()


def facts(content, path):
    """What a manifest says of a store, as far as that can be read."""
    page_size, = struct.unpack(">H", content[16:18])
    user_version, encoding, _, application = struct.unpack(">IIII", content[60:64] + content[56:60] + content[64:72])
    told = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest(), "pageSize": 65_536 if page_size == 1 else page_size,
            "pageCount": int.from_bytes(content[28:32], "big"), "userVersion": user_version - (user_version >> 31 << 32),
            "applicationID": application - (application >> 31 << 32)}
    if encoding in (1, 2, 3):
        told["textEncoding"] = ["UTF-8", "UTF-16le", "UTF-16be"][encoding - 1]
    with open(path, "wb") as file:
        file.write(content)
    database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    database.text_factory = bytes
    try:
        database.execute("PRAGMA writable_schema = ON")  # so that it overlooks what it cannot parse
        rows = database.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
        rows = sorted(tuple((each or b"") if isinstance(each, bytes | None) else b"%d" % each for each in row) for row in rows)
        told["schemaSHA256"] = hashlib.sha256(b"".join(
            each + b"\0" for row in rows if not row[1].lower().startswith(b"sqlite_") for each in row)).hexdigest()
    except UNREADABLE:
        pass
    finally:
        database.close()
        os.unlink(path)
    return told
