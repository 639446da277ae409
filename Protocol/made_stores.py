"""Stores of every shape that SQLite can make of one file, for `prove_canonical.py`.

A store is made twice where its rows can come about in two ways: `history` 0 inserts in the order of keys, 1 in another
order, with rows that come and go between, and with values that are written again.
"""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

EDGES = [-(2**63), -(2**47) - 1, -(2**47), -(2**31) - 1, -(2**23), -32_769, -129, -128, -1, 0, 1, 2, 127, 128, 32_767,
         8_388_608, 2**31 - 1, 2**31, 2**47 - 1, 2**47, 2**63 - 1]  # fmt: skip
Fill = Callable[[sqlite3.Connection, int], None]


@dataclass(frozen=True)
class MadeStore:
    name: str
    fill: Fill
    page_size: int = 4096
    encoding: str = "UTF-8"
    auto_vacuum: str = "NONE"
    legacy: tuple[bool, bool] = (False, False)
    """By history: schema format 1, in which 0 and 1 are integers of one byte."""
    reserved: int = 0
    histories: int = 2
    pragmas: list[str] = field(default_factory=list)

    def make(self, path: Path, history: int) -> None:
        if self.reserved:
            script = f".filectrl reserve_bytes {self.reserved}\nPRAGMA page_size = {self.page_size};\nVACUUM;\n"
            command_line(path, script)
        if self.legacy[history]:
            # The schema format comes with the first table, and stays until a VACUUM.
            script = f"PRAGMA page_size = {self.page_size};\n.dbconfig legacy_file_format on\nCREATE TABLE gone (a);\n"
            command_line(path, script + "DROP TABLE gone;\n")
        connection = sqlite3.connect(path, isolation_level=None)
        own = [f"page_size = {self.page_size}", f"encoding = '{self.encoding}'", f"auto_vacuum = {self.auto_vacuum}"]
        for pragma in own + self.pragmas:
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        self.fill(connection, history)
        connection.execute("COMMIT")
        connection.close()


def command_line(path: Path, script: str) -> None:
    subprocess.run(["sqlite3", path], input=script.encode(), check=True, stdout=subprocess.DEVNULL)


def insert(
    connection: sqlite3.Connection, sql: str, rows: Sequence[tuple[object, ...]], history: int, away: str = ""
) -> None:
    """`away` takes rows away again, so that they are inserted a second time."""
    if history == 0:
        connection.executemany(sql, rows)
        return
    mixed = [*rows[1::3], *rows[::-3], *rows]
    statement = sql.replace("INSERT", "INSERT OR REPLACE", 1)
    connection.executemany(statement, mixed)
    if away:
        connection.execute(away)
        connection.executemany(statement, [*rows[len(rows) // 2 :], *rows[: len(rows) // 2]])


def text(seed: int, length: int) -> str:
    return (f"{seed * 7919 % 10007}-é𝄞-" * (length // 4 + 1))[:length]


def mixed(connection: sqlite3.Connection, history: int) -> None:
    connection.execute("PRAGMA user_version = -5")
    connection.execute("PRAGMA application_id = 1179011410")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT COLLATE NOCASE, c REAL, d BLOB)")
    connection.execute("CREATE INDEX t_a ON t (a, b DESC)")
    connection.execute("CREATE UNIQUE INDEX t_b ON t (b, id)")
    rows: list[tuple[object, ...]] = [
        (
            key,
            EDGES[key % len(EDGES)] if key % 3 else key / 7,
            text(key, key % 190),
            float(key),
            bytes([key & 255]) * (key % 60),
        )
        for key in range(-40, 900)
    ]
    rows += [(key, None, None, None, None) for key in EDGES if not -40 <= key < 900]
    insert(connection, "INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows, history, "DELETE FROM t WHERE id % 2")
    connection.execute("CREATE TABLE empty (a, b)")
    connection.execute("CREATE INDEX empty_i ON empty (a)")
    connection.execute("CREATE TABLE one (a PRIMARY KEY)")
    connection.execute("INSERT INTO one VALUES (1.0)")
    connection.execute("CREATE TABLE w (k TEXT, n INTEGER, v, PRIMARY KEY (n DESC, k)) WITHOUT ROWID")
    connection.execute("CREATE INDEX w_v ON w (v)")
    rows = [(text(key, 5), key % 7 - 3, text(key, key % 300) if key % 5 else None) for key in range(700)]
    insert(connection, "INSERT INTO w VALUES (?, ?, ?)", rows, history, "DELETE FROM w WHERE n > 0")
    connection.execute("CREATE VIEW v AS SELECT a FROM t")
    connection.execute("CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM empty; END")


def long_rows(connection: sqlite3.Connection, history: int) -> None:
    connection.execute("CREATE TABLE blobs (id INTEGER PRIMARY KEY, body BLOB)")
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    lengths = [
        0,
        1,
        size - 45,
        size - 39,
        size - 38,
        size - 37,
        size - 36,
        size - 35,
        size - 4,
        size,
        2 * size - 9,
        3 * size,
        9 * size,
    ]
    rows: list[tuple[object, ...]] = [
        (key * 3, bytes([key]) * max(0, length)) for key, length in enumerate(lengths * 6)
    ]
    insert(connection, "INSERT INTO blobs VALUES (?, ?)", rows, history, "DELETE FROM blobs WHERE id % 4")
    connection.execute("CREATE TABLE keys (k BLOB, t TEXT)")
    connection.execute("CREATE INDEX keys_i ON keys (k, t)")
    connection.execute("CREATE TABLE keyed (k BLOB PRIMARY KEY, t) WITHOUT ROWID")
    quarter = (size - 12) * 64 // 255 - 23
    lengths = [
        0,
        1,
        2,
        quarter - 6,
        quarter - 5,
        quarter - 4,
        quarter - 3,
        quarter - 2,
        quarter,
        quarter + 9,
        size - 20,
        size,
        3 * size,
    ]
    for count, length in enumerate(lengths * 5):
        body = count.to_bytes(2, "big") + b"k" * max(0, length)
        connection.execute("INSERT INTO keys (rowid, k, t) VALUES (?, ?, 'x')", [2 * count, body])
        connection.execute("INSERT INTO keyed VALUES (?, 'y')", [body])
    if history:
        connection.execute("UPDATE keys SET t = 'z' WHERE rowid % 3 = 0")
        connection.execute("UPDATE keys SET t = 'x' WHERE rowid % 3 = 0")


def counts(connection: sqlite3.Connection, history: int) -> None:
    """Trees of each size from 0 to some hundred rows, so that each end of a level comes about."""
    for count in list(range(0, 130)) + list(range(130, 700, 23)):
        connection.execute(f"CREATE TABLE t{count} (id INTEGER PRIMARY KEY, k TEXT)")
        connection.execute(f"CREATE INDEX i{count} ON t{count} (k)")
        rows = [(key, f"{key:05}" + "x" * 45) for key in range(count)]
        insert(
            connection, f"INSERT INTO t{count} VALUES (?, ?)", rows, history, f"DELETE FROM t{count} WHERE id % 3 = 1"
        )


def deep(connection: sqlite3.Connection, history: int) -> None:
    connection.execute("CREATE TABLE t (k TEXT PRIMARY KEY, n) WITHOUT ROWID")
    connection.execute("CREATE TABLE r (n INTEGER)")
    rows: list[tuple[object, ...]] = [(f"{key:07}" + "k" * (70 + key % 3), key) for key in range(6000)]
    insert(connection, "INSERT INTO t VALUES (?, ?)", rows, history)
    insert(connection, "INSERT INTO r (rowid, n) VALUES (?, 1)", [(key * 2**41,) for key in range(30_000)], history)


def many_tables(connection: sqlite3.Connection, history: int) -> None:
    """A schema of several levels, with rows that are longer than a page."""
    long = " -- " + "a remark that takes room " * 200
    for number in range(2500):
        remark = long if number % 400 == 3 else ""
        connection.execute(f"CREATE TABLE some_table_{number} (a, b{remark}\n)")
        if number % 3 == 0:
            connection.execute(f"CREATE INDEX some_index_{number} ON some_table_{number} (b)")
    connection.execute("INSERT INTO some_table_7 VALUES (1, 2)")


def schema_of(length: int) -> Fill:
    def fill(connection: sqlite3.Connection, history: int) -> None:
        connection.execute("CREATE TABLE a (b" + " " * length + ")")
        if history:
            connection.execute("INSERT INTO a VALUES (7)")
            connection.execute("DELETE FROM a")

    return fill


def added_columns(connection: sqlite3.Connection, history: int) -> None:
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    insert(connection, "INSERT INTO t VALUES (?, ?)", [(key, key) for key in range(300)], history)
    connection.execute("ALTER TABLE t ADD COLUMN b DEFAULT 'none'")
    connection.execute("ALTER TABLE t ADD COLUMN c")
    rows: list[tuple[object, ...]] = [(key, key, key, key) for key in range(300, 600)]
    insert(connection, "INSERT INTO t VALUES (?, ?, ?, ?)", rows, history)
    connection.execute("CREATE INDEX t_b ON t (b)")


def virtual(connection: sqlite3.Connection, history: int) -> None:
    connection.execute("CREATE VIRTUAL TABLE f USING fts5 (body, tokenize = 'porter')")
    connection.execute("CREATE VIRTUAL TABLE g USING fts4 (body)")
    connection.execute("CREATE VIRTUAL TABLE r USING rtree (id, x0, x1, y0, y1)")
    for key in range(800):
        connection.execute("INSERT INTO f (rowid, body) VALUES (?, ?)", [key, text(key, 80)])
        connection.execute("INSERT INTO g (docid, body) VALUES (?, ?)", [key, text(key, 30)])
        connection.execute(
            "INSERT INTO r VALUES (?, ?, ?, ?, ?)", [key, key % 17, key % 17 + 3, key % 29, key % 29 + 1]
        )


def nothing(connection: sqlite3.Connection, history: int) -> None:
    connection.execute("PRAGMA user_version = 3")


def odd_indexes(connection: sqlite3.Connection, history: int) -> None:
    connection.execute(
        "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a INTEGER, b TEXT UNIQUE, c AS (a * 2) STORED)"
    )
    connection.execute("CREATE INDEX t_part ON t (a) WHERE a > 50")
    connection.execute("CREATE INDEX t_expression ON t (a + 1, b)")
    connection.execute("CREATE INDEX t_generated ON t (c DESC)")
    rows: list[tuple[object, ...]] = [(key, key % 100, text(key, 9)) for key in range(1, 500)]
    insert(connection, "INSERT INTO t (id, a, b) VALUES (?, ?, ? || CAST(?1 AS TEXT))", rows, history)
    connection.execute("ANALYZE")


def made_stores() -> Iterator[MadeStore]:
    for page_size in (512, 1024, 4096, 65_536):
        for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
            yield MadeStore(f"mixed-{page_size}-{encoding}", mixed, page_size, encoding)
        for mode in ("FULL", "INCREMENTAL"):
            yield MadeStore(f"mixed-{page_size}-{mode}", mixed, page_size, auto_vacuum=mode)
            yield MadeStore(f"long-{page_size}-{mode}", long_rows, page_size, auto_vacuum=mode)
        yield MadeStore(f"long-{page_size}", long_rows, page_size)
        for reserved in (8, 32):
            yield MadeStore(f"mixed-{page_size}-reserved-{reserved}", mixed, page_size, reserved=reserved)
            yield MadeStore(
                f"long-{page_size}-reserved-{reserved}", long_rows, page_size, auto_vacuum="FULL", reserved=reserved
            )
        yield MadeStore(f"virtual-{page_size}", virtual, page_size, histories=1)
        yield MadeStore(f"odd-{page_size}", odd_indexes, page_size)
    yield MadeStore("reserved-255", mixed, 1024, reserved=255)
    yield MadeStore("legacy", mixed, 1024, legacy=(True, True))
    yield MadeStore("legacy-once", mixed, 1024, legacy=(False, True))
    yield MadeStore("cache", mixed, 1024, pragmas=["default_cache_size = 77"])
    yield MadeStore("counts-512", counts, 512)
    yield MadeStore("counts-512-FULL", counts, 512, auto_vacuum="FULL")
    yield MadeStore("counts-1024", counts, 1024)
    yield MadeStore("deep-512", deep, 512)
    yield MadeStore("deep-512-INCREMENTAL", deep, 512, auto_vacuum="INCREMENTAL")
    yield MadeStore("many-512", many_tables, 512)
    yield MadeStore("many-512-FULL", many_tables, 512, auto_vacuum="FULL")
    yield MadeStore("many-4096", many_tables, 4096)
    for length in (*range(310, 360), *range(395, 440), 1000):
        yield MadeStore(f"schema-512-{length}", schema_of(length), 512, auto_vacuum="FULL" if length % 2 else "NONE")
    yield MadeStore("added", added_columns, 1024)
    yield MadeStore("nothing", nothing, 1024, histories=1)
    yield MadeStore("nothing-FULL", nothing, 1024, auto_vacuum="FULL", histories=1)


def over_one_gibibyte(connection: sqlite3.Connection, history: int) -> None:
    """The lock page comes among overflow pages; what comes after it are leaves and interior pages as well."""
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)")
    connection.execute("CREATE TABLE after (id INTEGER PRIMARY KEY, k TEXT)")
    connection.execute("CREATE INDEX after_k ON after (k)")
    for key in range(1100):
        connection.execute("INSERT INTO t VALUES (?, ?)", [key, f"row {key} ".encode().ljust(1_000_000 + key, b"-")])
    rows: list[tuple[object, ...]] = [(key, text(key, 40)) for key in range(20_000)]
    insert(connection, "INSERT INTO after VALUES (?, ?)", rows, history)


def large_stores() -> Iterator[MadeStore]:
    """With 1,024-byte pages a pointer map page falls on the lock page, and with no other size."""
    yield MadeStore("large-1024-FULL", over_one_gibibyte, 1024, auto_vacuum="FULL", histories=1)
    yield MadeStore("large-1024", over_one_gibibyte, 1024, histories=1)
    yield MadeStore("large-4096-INCREMENTAL", over_one_gibibyte, 4096, auto_vacuum="INCREMENTAL", histories=1)
    yield MadeStore("large-65536", over_one_gibibyte, 65_536, histories=1)
