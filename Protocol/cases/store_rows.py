"""Stores by their rows (`COLUMNS.md` section 1): streams of items, and the files that they make."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from cases.canonical import index, keyed, table
from encoder import segment as s
from encoder.piece import Pieces, joined
from encoder.sqlite_file import Value
from encoder.store_pages import Item, Rows, Store, written
from encoder.store_stream import DESCENDING, NOCASE, ROWID, RTRIM, Group, Put, column, items
from encoder.store_stream import Item as StreamItem
from encoder.vector import Vector


def part(put: Put) -> s.Part:
    if isinstance(put, int):
        return s.number(put)
    if isinstance(put, bytes):
        return s.chunk(put)
    sizes = s.varints([len(each) for each in put.records])
    rowids = s.varints(put.rowids) if put.rowids is not None else None
    return s.group(len(put.records), sizes, *(s.text(each, "record") for each in put.records), rowids=rowids, row_wise=True)


def segment(found: list[StreamItem]) -> Pieces:
    return s.stored(s.content(s.parts(*(part(put) for item in found for put in item))))


def vector(name: str, about: str, store: Store, segments: list[Pieces] | None = None) -> Vector:
    data = joined(written(store))
    details = [("size", str(len(data))), ("sha256", hashlib.sha256(data).hexdigest())]
    sections = [("segment", each) for each in segments or [segment(items(store))]]
    return Vector(f"store_rows_{name}", about, "columns 1", "rows", None, details, sections)


def vectors() -> Iterator[Vector]:
    yield from stores()
    yield from orders()
    yield from long_rows()


HERBS: Rows = [(1, ["dill", 5]), (7, ["salt", 1]), (2**40, ["mace", None])]


def stores() -> Iterator[Vector]:
    yield vector("empty", "A store without tables", Store([], user_version=-2))
    settings = Store([table("t", "a,b", HERBS)], 1024, 8, True, 1, "utf-16-be", cache_size=-2000, user_version=-1, application_id=2**31 - 1)
    yield vector("settings", "Every setting", settings)
    empty = Store([table("t", "a", []), index("i", "t", "a", []), table("u", "a", [])])
    yield vector("no_rows", "Trees without rows", empty)
    mixed = [
        table("t", "a,b", HERBS), Item("view", "v", "CREATE VIEW v AS SELECT 1"), table("u", "a", [(1, [4])]),
        index("i", "t", "b", [(None, [None, 2**40]), (None, [1, 7]), (None, [5, 1])]), keyed([["x"], ["y"]]),
    ]  # fmt: skip
    yield vector("trees", "Tables, an index as entries, a table WITHOUT ROWID, a view", Store(mixed, auto_vacuum=True))
    found = items(Store(mixed, auto_vacuum=True))
    yield vector("segment_for_each_item", "Each item in a segment of its own", Store(mixed, auto_vacuum=True), [segment([each]) for each in found])
    apart = [each for item in found for each in (segment([item]), segment([]))]
    yield vector("segment_without_items", "Segments without items among the others", Store(mixed, auto_vacuum=True), [segment([]), *apart[:-1]])
    single = [each for item in found for each in singles(item)]
    yield vector("group_for_each_row", "Each row in a group of its own", Store(mixed, auto_vacuum=True), [segment(single)])
    old: Rows = [(1, [0]), (2, [1]), (3, [2])]
    legacy = Store([table("t", "a", old), index("i", "t", "a", [(None, [0, 1]), (None, [1, 2]), (None, [2, 3])])], schema_format=1)
    legacy.items[1].derived = [column(0), ROWID]
    yield vector("schema_format_1", "0 and 1 as integers of one byte, in derived entries too", legacy)
    many: Rows = [(key, [b"l" * 300]) for key in range(8)]
    yield vector("several_pages", "A tree of several pages, and overflow pages", Store([table("t", "a", [*many, (9, [b"o" * 1000])])], auto_vacuum=True))


def singles(item: StreamItem) -> list[StreamItem]:
    if len(item) != 2 or not isinstance(item[1], Group):
        return [item]
    rowids, records = item[1].rowids, item[1].records
    return [[item[0], Group([rowids[place]] if rowids else None, [each])] for place, each in enumerate(records)]


def derived(name: str, about: str, column_sql: str, key_sql: str, values: list[Value], order: list[int], how: int, encoding: str = "utf-8") -> Vector:
    """One table and an index of its only column; `order`: the rowids, from 1, in the order of entries."""
    rows: Rows = [(place, [value]) for place, value in enumerate(values, start=1)]
    entries: Rows = [(None, [values[rowid - 1], rowid]) for rowid in order]
    of = index("i", "t", key_sql, entries)
    of.derived = [how, ROWID]
    return vector(f"derived_{name}", about, Store([table("t", column_sql, rows), of], encoding=encoding))


def orders() -> Iterator[Vector]:
    mixed: list[Value] = [b"a", "b", 2, None, "a", 1.5, b"", -1, None, 2.0, ""]
    order = [4, 9, 8, 6, 3, 10, 11, 5, 2, 7, 1]
    yield derived("binary", "NULL, numbers, texts, blobs; equal ones by the rowid", "a", "a", mixed, order, column(0))
    falling = [1, 7, 2, 5, 11, 3, 10, 6, 8, 4, 9]
    yield derived("descending", "The other way round, but for the rowid", "a", "a DESC", mixed, falling, column(0, DESCENDING))
    big = 2**53
    numbers: list[Value] = [big + 1, float(big), big, float(big + 2), big - 1, float("inf"), 2**63 - 1, 2.0**63, float("-inf"), -(2**63), -0.0, 0]
    yield derived("numbers", "Integers and reals by their exact values", "a", "a", numbers, [9, 10, 11, 12, 5, 2, 3, 1, 4, 7, 8, 6], column(0))
    words: list[Value] = ["b", "A", "a", "[", "Z", "ab", "É", "é", "a "]
    yield derived("nocase", "A-Z as a-z, and no other letters", "a COLLATE NOCASE", "a", words, [4, 2, 3, 9, 6, 1, 5, 7, 8], column(0, NOCASE))
    spaces: list[Value] = ["a  ", "a", " a", "a\t", "a b", "  ", "", "A"]
    yield derived("rtrim", "Without spaces at the end", "a COLLATE RTRIM", "a", spaces, [6, 7, 3, 8, 1, 2, 4, 5], column(0, RTRIM))
    yield derived("nocase_descending", "A collation and a direction", "a COLLATE NOCASE", "a DESC", ["a", "B", "A", "b"], [2, 4, 1, 3], column(0, NOCASE | DESCENDING))
    for encoding, order in [("utf-16-le", [3, 1, 2]), ("utf-16-be", [1, 2, 3])]:
        yield derived(f"{encoding.replace('-', '')}", "BINARY compares the bytes of UTF-16", "a", "a", ["a", "b", "\u0100"], order, column(0), encoding)
    two: Rows = [(1, ["x", 2]), (2, ["y", 1]), (3, ["x", 1])]
    several = index("i", "t", "b DESC,a", [(None, [2, "x", 1]), (None, [1, "x", 3]), (None, [1, "y", 2])])
    several.derived = [column(1, DESCENDING), column(0), ROWID]
    yield vector("derived_several_values", "Several values, in another order than the row's", Store([table("t", "a,b", two), several]))
    by_key = index("i", "t", "id", [(None, [1, 1]), (None, [2, 2])])
    by_key.derived = [ROWID, ROWID]
    yield vector("derived_rowid_twice", "The rowid by its name, and at the end", Store([table("t", "id INTEGER PRIMARY KEY", [(1, [None]), (2, [None])]), by_key]))
    pairs = keyed([["A", "q"], ["a", "Q"], ["b", "p"]], "k PRIMARY KEY,v COLLATE NOCASE")
    of_keyed = Item("index", "i", "CREATE INDEX i ON w(v)", [(None, ["p", "b"]), (None, ["q", "A"]), (None, ["Q", "a"])], table="w", is_table=False)
    of_keyed.derived = [column(1, NOCASE), column(0, NOCASE)]
    yield vector("derived_equal", "Entries that compare equal keep the order of their rows", Store([pairs, of_keyed]))


    often = [index(f"i{number}", "t", "a", [(None, ["x", 1])]) for number in range(64)]
    for each in often:
        each.derived = [column(0), ROWID]
    yield vector("derived_64", "64 derived indexes of one table", Store([table("t", "a", [(1, ["x"])]), *often]))


def long_rows() -> Iterator[Vector]:
    """Records of 262,144 and 262,145 bytes: a header of 4 bytes, or 5, and a blob."""
    size = 262_144
    rows: Rows = [(-5, [b"a" * (size - 4)]), (-1, [b"b" * (size - 3)]), (3, [b"c" * 1_500_000]), (4, ["short"])]
    yield vector("long_rows", "Rows in groups and long rows, one of them in two chunks", Store([table("t", "a", rows)], 65_536))
    entries = keyed([[b"a" * (size - 3)], [b"b"]])
    yield vector("long_entry", "A long row of a table WITHOUT ROWID", Store([entries], 65_536))
    store = Store([table("t", "a", [(0, [b"b" * (size - 3)])])], 65_536)
    found = items(store)
    place = next(place for place, item in enumerate(found) if isinstance(item[-1], bytes))
    whole = found[place][-1]
    assert isinstance(whole, bytes)
    chunks: list[StreamItem] = [[3, whole[:1]], [3, whole[1:100]], [3, whole[100:]]]
    parts = [segment(found[:place]), segment(chunks[:2]), segment([chunks[2], *found[place + 1 :]])]
    yield vector("long_row_in_segments", "Chunks of any size, over several segments", store, parts)
