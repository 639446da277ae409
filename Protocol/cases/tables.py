"""What is in the tables of a store (section 4.8): each vector is a tiny store, and what `tables` says of it."""

from __future__ import annotations

from collections.abc import Iterator

from cases.canonical import index as store_index
from cases.canonical import keyed as store_keyed
from cases.canonical import table as store_table
from encoder.piece import binary
from encoder.sqlite_file import RawText, Table, Value, store_file
from encoder.store_pages import Layout, Rows, Store, written
from encoder.table_rows import cells_members, table_members
from encoder.vector import Vector, values


def vector(name: str, about: str, *tables: Table, encoding: str = "utf-8") -> Vector:
    store = store_file(list(tables), page_size=512, encoding=encoding)
    told = {table.name: table_members(table, encoding) for table in tables if not table.name.startswith("sqlite_")}
    return Vector(f"tables_of_{name}", about, "4.8", "tables", None, values(told), [("", binary(store.data, "a store"))])


def table(name: str, definition: str, *rows: tuple[int, list[Value]], without_rowid: bool = False) -> Table:
    ending = " WITHOUT ROWID" if without_rowid else ""
    return Table(name, f"CREATE TABLE {name}({definition}){ending}", list(rows), without_rowid)


def vectors() -> Iterator[Vector]:
    yield from rowids()
    yield from columns()
    yield from classes()
    yield from texts()
    yield from pages()


def rowids() -> Iterator[Vector]:
    yield vector("no_rows", "A table without rows", table("t", "a"))
    yield vector("rowid_with_a_name", "The rowid, and NULL in the record where a column stands for it",
                 table("recipe", "id INTEGER PRIMARY KEY, name TEXT", (-7, [None, "Dal"]), (3, [None, "Pho"])))  # fmt: skip
    yield vector("rowid_without_a_name", "The rowid comes between the size of the record and the record", table("t", "a", (2, ["x"]), (9, ["y"])))
    keyed = table("t", "a TEXT, b INT, c, PRIMARY KEY(b DESC, a)", (0, [9, "x", b"!"]), (0, [2, "k", None]), (0, [2, "m", 5]), without_rowid=True)
    yield vector("without_rowid", "The order of the key, no rowid, and the columns as the record has them", keyed)
    counter = table("sqlite_sequence", "name,seq", (1, ["t", 2]))
    counted = table("t", "id INTEGER PRIMARY KEY AUTOINCREMENT", (2, [None]))
    yield vector("autoincrement", "SQLite's own tables are not told of", counted, counter)


def columns() -> Iterator[Vector]:
    added = table("t", "a, b TEXT DEFAULT 'dill', c DEFAULT 5", (1, ["x"]), (2, ["y", "z", 6]))
    yield vector("columns_added", "What is not in the record is not told", added)
    yield vector("generated_columns", "Generated columns are told where they are stored", table("t", "a INT, v AS (a * 2), s AS (a + 1) STORED, z", (1, [20, 21, "end"])))
    yield vector("real_column", "A whole number that a REAL column keeps as an integer is told as one", table("t", "a REAL", (1, [3]), (2, [2.5])))


def classes() -> Iterator[Vector]:
    every: list[Value] = [None, 0, -1, 2**63 - 1, -(2**63), 0.1, -0.0, "", "a\0b", b"", b"\0\xff"]
    yield vector("every_class", "Each storage class", table("t", ", ".join("abcdefghijk"), (1, every)))
    yield vector("lengths", "Lengths keep values apart", table("t", "a, b", (1, ["ab", "c"])), table("u", "a, b", (1, ["a", "bc"])))
    yield vector("classes_apart", "Storage classes keep values apart", table("t", "a", (1, [1]), (2, [1.0]), (3, ["1"]), (4, [b"1"])))


def texts() -> Iterator[Vector]:
    broken = RawText(b"caf\xe9 \xc0\xaf")
    yield vector("invalid_utf8", "Text that is no valid UTF-8, byte by byte", table("t", "a", (1, [broken])))
    for encoding in ("utf-16-le", "utf-16-be"):
        text = "Cr\u00eape \U0001f372"
        yield vector(encoding.replace("-", ""), "Text is told in the store's encoding, its name in UTF-8", table("t", "a", (1, [text])), encoding=encoding)


def pages() -> Iterator[Vector]:
    """Stores of many pages, of which the digest tells nothing."""
    long: Rows = [(key, [b"o" * length]) for key, length in enumerate([0, 400, 474, 475, 978, 2000, 30])]
    rows: Rows = [(key * 3, [key, "a recipe"]) for key in range(90)]
    keys: list[list[Value]] = [[bytes([number]) + b"k" * (60 + 9 * number)] for number in range(40)]
    store = Store([
        store_table("t", "a", long), store_table("u", "a,b", rows), store_keyed(keys),
        store_index("i", "u", "a", [(None, [key, key * 3]) for key in range(90)]),
    ])  # fmt: skip
    for name, about, is_canonical in [
        ("many_pages", "Trees of several levels, and overflow pages: each record is whole, and no index is told of", True),
        ("no_canonical_form", "The same rows with their pages in another order, and records as they are: integers of 8 bytes", False),
    ]:  # fmt: skip
        layout = Layout(store, is_canonical)
        told = {item.name: cells_members([(rowid, layout.encoded(row)) for rowid, row in item.rows or []])
                for item in store.items if item.kind == "table"}  # fmt: skip
        yield Vector(f"tables_of_{name}", about, "4.8", "tables", None, values(told), [("", written(store, is_canonical))])
