"""Streams of items that are refused (`COLUMNS.md` section 1)."""

from __future__ import annotations

from collections.abc import Iterator

from cases.canonical import index, keyed, table
from cases.store_rows import HERBS, segment
from encoder import segment as s
from encoder.piece import Pieces, joined
from encoder.sqlite_file import Value
from encoder.store_pages import Item, Rows, Store, written
from encoder.store_record import RawRecord, record, wide_record
from encoder.store_stream import (
    CHUNK, DERIVED, ENTRIES, LONG_ROW, NOCASE, ROWID, ROWS, TABLE, Group, column, items,
)  # fmt: skip
from encoder.store_stream import Item as StreamItem
from encoder.vector import Vector


def bad(name: str, about: str, *segments: list[StreamItem], size: int = 1024) -> Vector:
    found = [("segment", segment(each)) for each in segments]
    return Vector(f"store_rows_{name}", about, "columns 1", "rows", "damaged", [("size", str(size))], found)


def vectors() -> Iterator[Vector]:
    yield from order_of_items()
    yield from settings()
    yield from schemas()
    yield from trees()
    yield from long_rows()
    yield from derived()
    yield from sizes()
    yield work()


SOUND = Store([table("t", "a,b", HERBS)])
ITEMS = items(SOUND)
"""settings, rows of sqlite_schema, table, rows, end"""
TREES_AT = 10
"""Where *settings* has the number of trees."""


def order_of_items() -> Iterator[Vector]:
    head, schema, tag, rows, end = ITEMS
    yield bad("no_settings", "A stream that does not begin with settings", [schema, tag, rows, end])
    yield bad("settings_twice", "Settings once more", [head, head, schema, tag, rows, end])
    yield bad("settings_later", "Settings among the trees", [head, schema, tag, head, rows, end])
    yield bad("settings_cut", "Settings over two segments", [head[:5]], [head[5:], schema, tag, rows, end])
    yield bad("tag_10", "An item that there is not", [head, schema, [10], tag, rows, end])
    yield bad("no_end", "A stream without an end", [head, schema, tag, rows])
    yield bad("end_early", "An end before the last tree", [head, schema, end])
    yield bad("after_end", "An item after the end", [head, schema, tag, rows, end, end])
    yield bad("segment_after_end", "A segment after the end", [head, schema, tag, rows, end], [end])
    yield bad("segment_empty_after_end", "A segment without items after the end", [head, schema, tag, rows, end], [])
    yield bad("rows_of_no_row", "A row group without rows", [head, schema, tag, [ROWS, Group([], [])], rows, end])
    yield bad("table_before_schema", "sqlite_schema comes without a tag", [head, [TABLE], schema, tag, rows, end])
    yield bad("chunk_alone", "A chunk without a long row", [head, schema, tag, rows, [CHUNK, b"x"], end])
    yield bad("rows_cut", "Rows without their group", [head, schema, tag, [ROWS]])


def settings() -> Iterator[Vector]:
    head, *rest = ITEMS
    for name, about, place, value in [
        ("page_size_256", "A page size below 512", 1, 256), ("page_size_768", "A page size that is no power of two", 1, 768),
        ("page_size_131072", "A page size above 65,536", 1, 131_072), ("page_size_2_32", "A page size right in its low bits alone", 1, 2**32 + 512),
        ("reserved_33", "Less than 480 usable bytes", 2, 33), ("schema_format_5", "A schema format above 4", 3, 5),
        ("cache_size_2_32", "A cache size of more than 32 bits", 4, 2**32), ("auto_vacuum_2", "Neither with auto-vacuum nor without", 5, 2),
        ("text_encoding_4", "A text encoding above 3", 6, 4), ("user_version_2_32", "A user version of more than 32 bits", 7, 2**32),
        ("incremental_2_32", "A number of more than 32 bits", 8, 2**32), ("application_2_32", "An application id of more than 32 bits", 9, 2**32),
        ("trees_65537", "65,537 trees", TREES_AT, 65_537), ("trees_more", "More trees than the rows name", TREES_AT, 2), ("trees_fewer", "Fewer trees than the rows name", TREES_AT, 0),
    ]:  # fmt: skip
        yield bad(f"settings_{name}", about, [[*head[:place], value, *head[place + 1 :]], *rest])
    large = Store([table("t", "a", [])], 1024, 256)
    yield bad("settings_reserved_256", "256 reserved bytes, which a header cannot say", items(large), size=2048)


def schemas() -> Iterator[Vector]:
    row: list[Value] = ["table", "t", "t", 2, "CREATE TABLE t(a,b)"]

    def schema(name: str, about: str, *records: bytes, rowids: list[int] | None = None, trees: int = 1) -> Vector:
        head, _, tag, rows, end = ITEMS
        ids = rowids or list(range(1, len(records) + 1))
        return bad(f"schema_{name}", about, [[*head[:TREES_AT], trees], [ROWS, Group(ids, list(records))], *[tag, rows] * trees, end], size=1024 * trees)

    yield schema("four_columns", "A row with four columns", record(row[:4]))
    yield schema("name_blob", "A column of another type", record(["table", b"t", "t", 2, None]))
    yield schema("root_3", "Another root than there must be", record([*row[:3], 3, row[4]]))
    yield schema("root_negative", "A root below 0", record([*row[:3], -2, row[4]]))
    swapped = [record(["table", name, name, root, None]) for name, root in (("t", 3), ("u", 2))]
    yield schema("roots_swapped", "Roots in another order", *swapped, trees=2)
    yield schema("view_with_tree", "A tree that is neither a table's nor an index's", record(["view", *row[1:]]))
    yield schema("index_without_table", "An index whose table is not there", record(row), record(["index", "i", "v", 3, None]), trees=2)
    yield schema("rowids_fall", "Rowids that fall", record(row), record(["view", "v", "v", 0, None]), rowids=[2, 1])
    yield schema("not_canonical", "A record that is not canonical", wide_record(row))
    head, _, tag, rows, end = ITEMS
    yield bad("schema_without_rowids", "sqlite_schema without rowids", [head, [ROWS, Group(None, [record(row)])], tag, rows, end])
    long = record([*row[:4], "CREATE TABLE t(a,b)" + " " * 4_194_304])
    chunks: list[StreamItem] = [[CHUNK, long[at : at + 2**20]] for at in range(0, len(long), 2**20)]
    yield bad("schema_row_over_limit", "A row of sqlite_schema with more than 4,194,304 bytes", [head, [LONG_ROW, 2, len(long)], *chunks[:2]], [*chunks[2:], tag, rows, end], size=1024 * 8192)


def trees() -> Iterator[Vector]:
    head, schema, tag, rows, end = ITEMS
    yield bad("tree_missing", "A tree that does not come", [head, schema, end])
    yield bad("tree_too_many", "A tree that no row names", [head, schema, tag, rows, tag, rows, end])
    yield bad("tree_derived_table", "A table that follows from nothing", [head, schema, [DERIVED, 1, ROWID], end])
    yield bad("tree_rowids_in_entries", "Rowids in a table WITHOUT ROWID", [head, schema, [ENTRIES], rows, end])
    yield bad("tree_without_rowids", "A table with rowids whose rows have none", [head, schema, tag, [ROWS, Group(None, [record([1])])], end])
    for name, about, rowids in [("fall", "Rowids that fall", [2, 1]), ("twice", "A rowid that is there twice", [1, 1])]:
        records = [record(["x", 1]), record(["y", 2])]
        yield bad(f"rowids_{name}", about, [head, schema, tag, [ROWS, Group(rowids, records)], end])
        groups: list[StreamItem] = [[ROWS, Group([rowid], [each])] for rowid, each in zip(rowids, records)]
        yield bad(f"rowids_{name}_in_two_groups", f"{about} from one group to the next", [head, schema, tag, *groups, end])
    for name, about, content in [
        ("wide", "Integers that are wider than they need be", wide_record([5])), ("type_10", "Serial type 10", b"\2\x0a"),
        ("legacy", "1 as an integer of one byte in schema format 4", record([1], schema_format=1)), ("short", "A record that is cut", b"\3\1\x13\7a"),
        ("long", "A record with a byte too many", record(["x"]) + b"!"), ("header_0", "A record with a header of size 0", b"\0"),
    ]:  # fmt: skip
        yield bad(f"record_{name}", about, [head, schema, tag, [ROWS, Group([1], [content])], end])
    old = items(Store([table("t", "a", [(1, RawRecord(record([1])))])], schema_format=1))
    yield bad("record_modern", "1 as serial type 9 in schema format 1", old)
    with_index = items(Store([table("t", "a", []), index("i", "t", "a", [])]))
    yield bad("tree_index_as_table", "An index as a table with rowids", [*with_index[:-2], [TABLE], with_index[-1]], size=1536)
    yield bad("tree_of_group_over_limit", "A long row in a row group", [head, schema, tag, [ROWS, Group([1], [record([b"b" * 262_142])])], end], size=1024 * 512)


def long_rows() -> Iterator[Vector]:
    head, schema, tag, _, end = ITEMS
    content = record([b"b" * 300_000])
    size = len(content)

    def long(name: str, about: str, *found: StreamItem, declared: int = size) -> Vector:
        return bad(f"long_row_{name}", about, [head, schema, tag, [LONG_ROW, 2, declared], *found], size=512 * 1024)

    short = record([b"b" * 262_140])
    yield long("too_short", "A long row of 262,144 bytes, which belongs in a group", [CHUNK, short], end, declared=len(short))
    yield long("cut", "A long row that ends early", [CHUNK, content[:-1]], end)
    yield long("over_size", "A chunk that is longer than what is left", [CHUNK, content[:10]], [CHUNK, content], end)
    yield long("chunk_of_nothing", "A chunk of no bytes", [CHUNK, b""], [CHUNK, content], end)
    yield long("interrupted", "Another item within a long row", [CHUNK, content[:10]], [ROWS, Group([9], [record(["x"])])], [CHUNK, content[10:]], end)
    yield long("chunk_too_many", "A chunk after the last byte", [CHUNK, content], [CHUNK, b"x"], end)
    yield long("over_store", "A record that is longer than the store", [CHUNK, content], end, declared=2**40)
    yield long("not_canonical", "A long record that is not canonical", [CHUNK, b"\x80" + content[:-1]], end)


def derived() -> Iterator[Vector]:
    rows: Rows = [(1, ["b"]), (2, ["a"])]
    pair = [table("t", "a", rows), index("i", "t", "a", [(None, ["a", 2]), (None, ["b", 1])])]

    def of(name: str, about: str, *numbers: int, store: Store | None = None, more: tuple[StreamItem, ...] = ()) -> Vector:
        found = items(store or Store(pair))
        place = max(place for place, item in enumerate(found) if item == [ENTRIES])
        return bad(f"derived_{name}", about, [*found[:place], [DERIVED, *numbers], *more, found[-1]], size=1536)

    yield of("nothing", "Entries of no values", 0)
    yield of("32768", "Entries of 32,768 values", 32_768, ROWID, ROWID)
    yield of("count_2_63", "Entries of 2^63 values", 2**63)
    yield of("collation_3", "A collation that there is not", 2, column(0, 6), ROWID)
    yield of("place_1", "A value that the rows have not", 2, column(1), ROWID)
    yield of("place_2_60", "A value beyond any row", 2, 2**63, ROWID)
    yield of("then_rows", "Rows after derived", 2, column(0), ROWID, more=([ROWS, Group(None, [record(["c", 3])])],))
    for encoding in ("utf-16-le", "utf-16-be"):
        yield of(f"nocase_{encoding.replace('-', '')}", "NOCASE in a store in UTF-16", 2, column(0, NOCASE), ROWID, store=Store(pair, encoding=encoding))
    without = Item("index", "i", "CREATE INDEX i ON w(k)", [(None, ["x"])], table="w", is_table=False)
    yield of("no_rowid", "The rowid of a table without rowids", 2, column(0), ROWID, store=Store([keyed([["x"]]), without]))
    short: Rows = [(1, ["b", 1]), (2, ["a"])]
    yield of("place_of_some", "A value that one row has not", 2, column(1), ROWID, store=Store([table("t", "a,b", short), pair[1]]))
    long: Rows = [(1, [b"k" * 32_764])]
    large = items(Store([table("t", "a", long), index("i", "t", "a", [])], 65_536))
    # Of its 32,769 bytes 5 are the header: its size, 3 of a serial type, 1 of the rowid's.
    yield bad("derived_entry_over_limit", "An entry of 32,769 bytes", [*large[:-2], [DERIVED, 2, column(0), ROWID], large[-1]], size=4 * 65_536)


    yield derived_often("65", "65 derived indexes of one table", 65)


def derived_often(name: str, about: str, count: int) -> Vector:
    indexes = [index(f"i{number}", "t", "a", []) for number in range(count)]
    for each in indexes:
        each.derived = [column(0), ROWID]
    store = Store([table("t", "a", []), *indexes])
    return bad(f"derived_{name}", about, items(store), size=len(joined(written(store))))


def sizes() -> Iterator[Vector]:
    whole = len(joined(written(SOUND)))
    for name, about, size in [("page_fewer", "A page more than the manifest says", whole - 512), ("page_more", "A page fewer than the manifest says", whole + 512), ("no_multiple", "A size that is no number of pages", whole + 1)]:
        yield bad(f"size_{name}", about, ITEMS, size=size)


def work() -> Vector:
    """Each segment is within the limits of a segment, and takes some bytes: the part asks for more than anything pays for."""
    head, schema, tag, _, end = ITEMS
    size, rows = 1_048_576, 6
    strings = s.lengths([b""], s.constant(size))
    value = s.plain(s.BLOB, s.deflated_strings(s.constant(s.way_to_deflate(1)), strings))

    def group(at: int) -> Pieces:
        six = s.group(rows, s.constant(1), value, rowids=s.arithmetic(at, 1))
        return s.stored(s.content(s.parts(s.number(ROWS), six), [s.Match(1, rows * size - 1, 1)], b"a", rows * size))

    segments = [segment([head, schema, tag]), *(group(1 + rows * each) for each in range(5)), segment([end])]
    found = [("segment", each) for each in segments]
    return Vector("store_rows_deflated_work_over", "More work to deflate strings than a part may ask for", "columns 2", "rows", "damaged", [("size", "262144")], found)
