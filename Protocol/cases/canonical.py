"""`CANONICAL.md`: compact copies as chance makes them, and the one form that they have."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator

from encoder.piece import Pieces, joined
from encoder.sqlite_file import RawText, Value
from encoder.store_pages import Item, Rows, Store, written
from encoder.store_plan import Entry, Plan, Room, planned
from encoder.store_record import record
from encoder.vector import Vector

LONGEST_SHOWN = 12_000
"""Bytes of a canonical form that stands in the vector whole, and not by its digest alone."""


def vector(name: str, about: str, covers: str, store: Store) -> Vector:
    found, source = written(store), written(store, is_canonical=False)
    data = joined(found)
    details = [("canonical-size", str(len(data))), ("canonical-sha256", hashlib.sha256(data).hexdigest())]
    sections: list[tuple[str, Pieces]] = [("source", source)]
    if len(data) <= LONGEST_SHOWN or store.page_size > 4096:
        sections.append(("canonical", found))
    return Vector(f"canonical_{name}", about, covers, "canonical", None, details, sections)


def table(name: str, columns: str, rows: Rows) -> Item:
    return Item("table", name, f"CREATE TABLE {name}({columns})", rows)


def index(name: str, of: str, columns: str, rows: Rows) -> Item:
    return Item("index", name, f"CREATE INDEX {name} ON {of}({columns})", rows, table=of, is_table=False)


def keyed(rows: list[list[Value]], columns: str = "k PRIMARY KEY") -> Item:
    """A table WITHOUT ROWID."""
    sql = f"CREATE TABLE w({columns})WITHOUT ROWID"
    return Item("table", "w", sql, [(None, row) for row in rows], is_table=False)


def vectors() -> Iterator[Vector]:
    yield from settings()
    yield from values()
    yield from chains()
    yield from table_shapes()
    yield from index_shapes()
    yield from schemas()


def settings() -> Iterator[Vector]:
    yield vector("empty", "No table: one page", "canonical 3", Store([], user_version=-2, application_id=2**31 - 1))
    yield vector("empty_auto_vacuum", "With auto-vacuum the highest root page is 1, and there is no pointer map", "canonical 3", Store([], auto_vacuum=True))
    few: Rows = [(1, ["Dal", 3]), (2, ["Pho", 0])]
    yield vector("settings", "The header's settings are those of the source, its counters are not", "canonical 3",
                 Store([table("t", "a,b", few)], cache_size=-2000, user_version=7, application_id=-1, auto_vacuum=True, incremental=1))  # fmt: skip
    for encoding in ("utf-16-le", "utf-16-be"):
        yield vector(encoding.replace("-", ""), "Text is as it was, also the words of sqlite_schema", "canonical 1-4",
                     Store([table("t", "a,b", few), index("i", "t", "a", [(None, ["Dal", 1]), (None, ["Pho", 2])])], encoding=encoding))  # fmt: skip
    for page_size in (1024, 32_768, 65_536):
        long: Rows = [(1, [b"k" * (page_size - 40)]), (2, [b"o" * (page_size - 39)]), (3, [b"x"])]
        yield vector(f"page_size_{page_size}", "A payload that just stays in its cell, and one that just does not", "canonical 3 5",
                     Store([table("t", "a", long)], page_size))  # fmt: skip
    for reserved in (1, 32):
        yield vector(f"reserved_{reserved}", "Reserved bytes are zero, and pages have so much less room", "canonical 4 5",
                     Store([table("t", "a", [(key, [b"r" * 90]) for key in range(8)])], reserved=reserved, auto_vacuum=True))  # fmt: skip


def values() -> Iterator[Vector]:
    edges = [edge + step for bits in (7, 15, 23, 31, 47) for edge in (-(2**bits), 2**bits) for step in (-1, 0)]
    every: list[Value] = [None, 0, 1, 2, -1, *edges, -(2**63), 2**63 - 1]
    kinds: list[Value] = [1.0, -0.0, float("inf"), "", RawText(b"\xff\0"), b"", b"\0", "Crêpe"]
    rows: Rows = [(key, [value]) for key, value in enumerate(every + kinds, start=-9)]
    yield vector("values", "Integers in the fewest bytes, everything else as it was", "canonical 2", Store([table("t", "a", rows)]))
    few: Rows = [(key, [value]) for key, value in enumerate([0, 1, 2, -1, 128])]
    indexed: Rows = [(None, [-1, 3]), (None, [0, 0]), (None, [1, 1]), (None, [2, 2]), (None, [128, 4])]
    for schema_format in (0, 1, 3):
        yield vector(f"schema_format_{schema_format}", "0 and 1 take a byte where the schema format is not 4", "canonical 2",
                     Store([table("t", "a", few), index("i", "t", "a", indexed)], schema_format=schema_format))  # fmt: skip
    yield vector("fewer_columns", "Rows from before ALTER TABLE ADD COLUMN stay short", "canonical 1",
                 Store([table("t", "a,b,c DEFAULT 5", [(1, ["x"]), (2, ["y", 1]), (3, ["z", None, 5])])]))  # fmt: skip
    for count in (126, 127):
        wide: Rows = [(1, [None] * count)]
        names = ",".join(f"c{number}" for number in range(count))
        yield vector(f"columns_{count}", "The size of a record's header counts its own bytes", "canonical 2", Store([table("t", names, wide)], 1024))
    keys = [-(2**63), -(2**31), -1, 0, 1, 127, 128, 2**14 - 1, 2**14, 2**21, 2**28, 2**35, 2**42, 2**49, 2**56 - 1, 2**56, 2**63 - 1]
    yield vector("rowids", "Rowids of every length", "canonical 5", Store([table("t", "a", [(key, [b"f" * 60]) for key in keys])]))
    small: list[list[Value]] = [[None, -1], [None, 0], [1, 1], [2, 2]]
    yield vector("small_cells", "A cell takes 4 bytes at least", "canonical 5",
                 Store([keyed([[0], [1], [2]]), table("t", "a", [(-1, [None]), (0, [None]), (1, [1]), (2, [2])]), index("i", "t", "a", [(None, row) for row in small])]))  # fmt: skip


def chains() -> Iterator[Vector]:
    lengths = [0, 400, 470, 471, 472, 473, 474, 475, 476, 900, 978, 979, 980, 981, 2000]
    rows: Rows = [(key, [b"o" * length]) for key, length in enumerate(lengths)]
    for auto_vacuum in (False, True):
        yield vector("chains_auto_vacuum" if auto_vacuum else "chains", "Overflow pages of a row come after the leaf before, and before its own",
                     "canonical 5-7", Store([table("t", "a", rows)], auto_vacuum=auto_vacuum))  # fmt: skip
    keys: list[list[Value]] = [[bytes([number]) + b"k" * length] for number, length in enumerate([0, 96, 97, 98, 99, 100, 101, 102, 103, 300, 600, 607, 608, 609, 900, 98, 97])]
    yield vector("chains_of_keys", "Overflow pages of an entry that closes a leaf come before that leaf", "canonical 5-7", Store([keyed(keys)], auto_vacuum=True))


def shape(is_table: bool, rows: Rows) -> Plan:
    entries = [Entry(rowid, record(values if isinstance(values, list) else [])) for rowid, values in rows]
    return planned(is_table, entries, Room(512, 512))


def first_where(rows: Callable[[int], Rows], is_table: bool, holds: Callable[[Plan], bool], start: int = 0) -> Rows:
    """The fewest rows that make a tree of that shape."""
    return next(rows(count) for count in range(start, 2000) if holds(shape(is_table, rows(count))))


def table_shapes() -> Iterator[Vector]:
    yield vector("table_no_rows", "A table without rows is an empty leaf", "canonical 6", Store([table("t", "a", []), index("i", "t", "a", [])]))
    for spare in (1, 0, -1):
        # A cell of 3 bytes, a record header of 3, a blob; 8 bytes of the page, and 2 for each cell's pointer.
        rows: Rows = [(1, [b"a" * 200]), (2, [b"b" * (512 - 8 - 4 - 6 - 6 - 200 - spare)])]
        about = {1: "A leaf with one byte to spare", 0: "A leaf that is full to the last byte", -1: "A row that is one byte too long for the leaf"}
        yield vector(f"table_leaf_{['full', 'one_byte_left', 'one_byte_over'][spare]}", about[spare], "canonical 6", Store([table("t", "a", rows)]))

    def one_a_leaf(count: int) -> Rows:
        return [(key - 2**62, [b"l" * 300]) for key in range(count)]

    full = first_where(one_a_leaf, True, lambda plan: len(plan.levels) == 3)
    yield vector("table_interior_full", "An interior page that is full: one leaf fewer than the next vector", "canonical 6", Store([table("t", "a", full[:-1])]))
    yield vector("table_interior_moved", "The last interior page would have no cell, and takes a child from the one before", "canonical 6", Store([table("t", "a", full)]))
    yield vector("table_interior_two", "The last interior page has a cell of its own", "canonical 6 7", Store([table("t", "a", one_a_leaf(len(full) + 1))], auto_vacuum=True))


def index_shapes() -> Iterator[Vector]:
    def entries(count: int) -> Rows:
        return [(None, [struct.pack(">H", number) + b"k" * 88]) for number in range(count)]

    def long_entries(count: int) -> Rows:
        return [(None, [struct.pack(">H", number) + b"k" * (88 if number % 4 else 598)]) for number in range(count)]

    def store(rows: Rows, auto_vacuum: bool = False) -> Store:
        return Store([Item("table", "w", "CREATE TABLE w(k PRIMARY KEY)WITHOUT ROWID", rows, is_table=False)], auto_vacuum=auto_vacuum)

    def moved(*levels: bool) -> Callable[[Plan], bool]:
        return lambda plan: [level.moved for level in plan.levels] == list(levels)

    shapes: list[tuple[str, str, tuple[bool, ...]]] = [
        ("leaf_moved", "The last leaf would be empty: its separator goes there, and the leaf before gives its last cell", (True, False)),
        ("two_leaves", "The last leaf has an entry of its own", (False, False)),
        ("interior_moved", "The last interior page takes a child from the one before", (False, True, False)),
        ("leaf_and_interior_moved", "The last leaf takes a cell, and the last interior page a child", (True, True, False)),
        ("leaf_moved_below_two", "The last leaf takes a cell, the last interior page has one", (True, False, False)),
        ("depth_3", "Two interior pages that are as they came", (False, False, False)),
        ("depth_4_all_moved", "Pages of three levels take from the one before", (True, True, True, False)),
    ]
    for name, about, levels in shapes:
        yield vector(f"index_{name}", about, "canonical 6", store(first_where(entries, False, moved(*levels))))
        if len(levels) < 4:
            rows = first_where(long_entries, False, moved(*levels))
            yield vector(f"index_{name}_chains", f"{about}; with overflow pages", "canonical 6 7", store(rows, auto_vacuum=True))
    full = first_where(entries, False, moved(True, False))
    yield vector("index_leaf_full", "A leaf that is full is the root: one entry fewer than the leaf that moved", "canonical 6", store(full[:-1]))


def schemas() -> Iterator[Vector]:
    def padded(length: int) -> Store:
        """The row of sqlite_schema is that much longer than the shortest one."""
        return Store([Item("table", "t", "CREATE TABLE t(a" + " " * length + ")", [(1, [1])])], auto_vacuum=True)

    yield vector("schema_fills_page_1", "The only page of sqlite_schema just fits into page 1", "canonical 6", padded(FITS))
    yield vector("schema_over_page_1", "One byte more: page 1 has no cell, and the page is its child", "canonical 6", padded(FITS + 1))
    yield vector("schema_fills_a_page", "The page is full without the header of the file", "canonical 6", padded(FITS + 72))
    yield vector("schema_long_row", "A row of sqlite_schema with overflow pages", "canonical 5 6", padded(1200))
    several = [table(f"t{number}", "a" + " " * 200, []) for number in range(9)]
    yield vector("schema_leaves", "sqlite_schema has several leaves", "canonical 6", Store(several, auto_vacuum=True))
    many = [table(f"t{number}", "a" + " " * 390, []) for number in range(60)]
    yield vector("schema_interior_over_page_1", "An interior page that does not fit into page 1", "canonical 6", Store(many))
    items = [
        Item("view", "v", "CREATE VIEW v AS SELECT 1"), table("t", "a", [(1, [3])]), table("u", "a", [(1, [4])]),
        index("i2", "u", "a", [(None, [4, 1])]), index("i1", "t", "a", [(None, [3, 1])]),
        Item("trigger", "g", "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1;END", table="t"),
        index("i0", "t", "a DESC", [(None, [3, 1])]),
    ]  # fmt: skip
    yield vector("schema_order", "Roots in the order of rows, trees in the order of tables with their indexes", "canonical 4", Store(items, first_schema_rowid=-3))


def shortest_schema() -> int:
    """How many blanks make the first page of a schema need all of U - 100 bytes."""
    for length in range(500):
        values: list[Value] = ["table", "t", "t", 3, "CREATE TABLE t(a" + " " * length + ")"]
        plan = planned(True, [Entry(1, record(values))], Room(512, 512))
        if plan.taken(plan.root) == 512 - 100:
            return length
    raise ValueError("there is no such schema")


FITS = shortest_schema()
