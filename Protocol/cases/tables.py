"""What is in the tables of a store (section 4.8): each vector is a tiny store, and what `tables` says of it."""

from __future__ import annotations

from collections.abc import Iterator

from encoder.piece import binary
from encoder.sqlite_file import RawText, Table, Value, store_file
from encoder.table_rows import written_digest
from encoder.vector import Vector, values

Rows = list[list[Value]]


def vector(name: str, about: str, *tables: tuple[Table, Rows | None], encoding: str = "utf-8") -> Vector:
    """Each table with its rows as section 4.8 writes them, or without where it does not count."""
    store = store_file([table for table, _ in tables], page_size=512, encoding=encoding)
    told = {
        table.name: {"rows": len(rows), "digest": written_digest(rows)} for table, rows in tables if rows is not None
    }
    return Vector(f"tables_of_{name}", about, "4.8", "tables", None, values(told), [("", binary(store.data, "a store"))])


def table(name: str, definition: str, *rows: tuple[int, list[Value]], without_rowid: bool = False) -> Table:
    ending = " WITHOUT ROWID" if without_rowid else ""
    return Table(name, f"CREATE TABLE {name}({definition}){ending}", list(rows), without_rowid)


def vectors() -> Iterator[Vector]:
    yield from rowids()
    yield from columns()
    yield from classes()
    yield from texts()


def rowids() -> Iterator[Vector]:
    yield vector("no_rows", "A table without rows", (table("t", "a"), []))
    recipe = table("recipe", "id INTEGER PRIMARY KEY, name TEXT", (-7, [None, "Dal"]), (3, [None, "Pho"]))
    yield vector("rowid_with_a_name", "The rowid comes first, and again as the column that stands for it", (recipe, [[-7, -7, "Dal"], [3, 3, "Pho"]]))
    yield vector("rowid_without_a_name", "The rowid comes first", (table("t", "a", (2, ["x"]), (9, ["y"])), [[2, "x"], [9, "y"]]))
    taken = table("t", "rowid, Oid", (2, ["x", "y"]))
    yield vector("rowid_taken_twice", "Two columns take names of the rowid, whatever their case", (taken, [[2, "x", "y"]]))
    taken = table("t", "rowid, _rowid_, OID", (2, ["x", "y", "z"]), (3, ["a", "b", "c"]))
    yield vector("rowid_taken", "Columns take all names of the rowid, and it is left out", (taken, [["x", "y", "z"], ["a", "b", "c"]]))
    keyed = table("t", "a TEXT, b INT, c, PRIMARY KEY(b DESC, a)", (0, [9, "x", b"!"]), (0, [2, "k", None]), (0, [2, "m", 5]), without_rowid=True)
    yield vector("without_rowid", "The order of the key, and the columns as they are declared", (keyed, [["x", 9, b"!"], ["k", 2, None], ["m", 2, 5]]))
    noted = table("t", "a TEXT COLLATE NOCASE PRIMARY KEY, b", (0, ["apple", 1]), (0, ["Berry", 2]), without_rowid=True)
    yield vector("without_rowid_collation", "The order of the key's collation", (noted, [["apple", 1], ["Berry", 2]]))
    counter = table("sqlite_sequence", "name,seq", (1, ["t", 2]))
    counted = table("t", "id INTEGER PRIMARY KEY AUTOINCREMENT", (2, [None]))
    yield vector("autoincrement", "SQLite's own tables are not told of", (counted, [[2, 2]]), (counter, None))


def columns() -> Iterator[Vector]:
    added = table("t", "a, b TEXT DEFAULT 'dill', c DEFAULT 5", (1, ["x"]), (2, ["y", "z", 6]))
    yield vector("columns_added", "What is not in the record has its default", (added, [[1, "x", "dill", 5], [2, "y", "z", 6]]))
    made = table("t", "a INT, v AS (a * 2), s AS (a + 1) STORED, z", (1, [20, 21, "end"]))
    yield vector("generated_columns", "Generated columns are left out, stored ones too", (made, [[1, 20, "end"]]))
    real = table("t", "a REAL", (1, [3]), (2, [2.5]))
    yield vector("real_column", "A whole number that a REAL column keeps as an integer is a REAL", (real, [[1, 3.0], [2, 2.5]]))


def classes() -> Iterator[Vector]:
    every: list[Value] = [None, 0, -1, 2**63 - 1, -(2**63), 0.1, -0.0, "", "a\0b", b"", b"\0\xff"]
    names = ", ".join("abcdefghijk")
    yield vector("every_class", "Each storage class", (table("t", names, (1, every)), [[1, *every]]))
    one, two = table("t", "a, b", (1, ["ab", "c"])), table("u", "a, b", (1, ["a", "bc"]))
    yield vector("lengths", "Lengths keep values apart", (one, [[1, "ab", "c"]]), (two, [[1, "a", "bc"]]))
    apart = table("t", "a", (1, [1]), (2, [1.0]), (3, ["1"]), (4, [b"1"]))
    yield vector("classes_apart", "Storage classes keep values apart", (apart, [[1, 1], [2, 1.0], [3, "1"], [4, b"1"]]))
    nothing = table("t", "a", (1, [float("nan")]))
    yield vector("not_a_number", "What is not a number reads as NULL", (nothing, [[1, None]]))


def texts() -> Iterator[Vector]:
    broken = RawText(b"caf\xe9 \xc0\xaf")
    yield vector("invalid_utf8", "Text that is no valid UTF-8, byte by byte", (table("t", "a", (1, [broken])), [[1, broken]]))
    for encoding in ("utf-16-le", "utf-16-be"):
        text = "Cr\u00eape \U0001f372"
        yield vector(encoding.replace("-", ""), "Text is told in UTF-8", (table("t", "a", (1, [text])), [[1, text]]), encoding=encoding)
