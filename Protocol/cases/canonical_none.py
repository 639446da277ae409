"""`CANONICAL.md` section 1: files that have no canonical form."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cases.canonical import index, keyed, table
from encoder.piece import Pieces, binary, joined
from encoder.sqlite_file import RawText, Value, varint
from encoder.store_pages import Item, Rows, Store, written
from encoder.store_record import RawRecord, record
from encoder.vector import Vector


def vector(name: str, about: str, source: bytes | Pieces) -> Vector:
    pieces = binary(source) if isinstance(source, bytes) else source
    return Vector(f"canonical_none_{name}", about, "canonical 1", "canonical", None, [("canonical", "none")], [("source", pieces)])


def vectors() -> Iterator[Vector]:
    yield from headers()
    yield from records()
    yield from schemas()
    yield from trees()
    yield from chains()


@dataclass(frozen=True)
class File:
    """A sound file, to be damaged."""

    data: bytes
    page_size: int = 512

    def with_bytes(self, offset: int, replacement: bytes) -> bytes:
        return self.data[:offset] + replacement + self.data[offset + len(replacement) :]

    def at(self, page: int, offset: int, replacement: bytes) -> bytes:
        return self.with_bytes((page - 1) * self.page_size + offset, replacement)

    def number(self, page: int, offset: int, size: int = 2) -> int:
        start = (page - 1) * self.page_size + offset
        return int.from_bytes(self.data[start : start + size], "big")

    def cell(self, page: int, place: int) -> int:
        """Offset of a cell within its page."""
        interior = self.number(page, 0, 1) in (2, 5)
        return self.number(page, (12 if interior else 8) + 2 * place)


def file(*items: Item) -> File:
    return File(joined(written(Store(list(items)))))


LONG: Rows = [(key, [b"l" * 300]) for key in range(1, 4)]


def headers() -> Iterator[Vector]:
    sound = file(table("t", "a", [(1, ["x"])]))
    for name, about, offset, replacement in [
        ("magic", "No SQLite database", 0, b"SQLite format 4"),
        ("page_size_256", "A page size below 512", 16, struct.pack(">H", 256)),
        ("page_size_768", "A page size that is no power of two", 16, struct.pack(">H", 768)),
        ("reserved_33", "Less than 480 usable bytes", 20, b"\x21"),
        ("page_count_less", "More pages than the header says", 28, struct.pack(">I", 1)),
        ("page_count_more", "Fewer pages than the header says", 28, struct.pack(">I", 3)),
        ("free_pages", "A free page", 36, struct.pack(">I", 1)),
        ("schema_format_5", "A schema format above 4", 44, struct.pack(">I", 5)),
        ("text_encoding_4", "A text encoding above 3", 56, struct.pack(">I", 4)),
    ]:
        yield vector(name, about, sound.with_bytes(offset, replacement))
    yield vector("no_bytes", "A file of no bytes", b"")
    yield vector("cut", "A file that ends within a page", sound.data[:-1])
    yield vector("cut_in_header", "A file that ends within its header", sound.data[:99])
    yield vector("page_of_no_tree", "A page that belongs to no tree", File(sound.data + bytes(512)).with_bytes(28, struct.pack(">I", 3)))


def records() -> Iterator[Vector]:
    for name, about, content in [
        ("of_no_bytes", "A record of no bytes", b""),
        ("header_0", "A record whose header has no room for its own size", b"\0"),
        ("header_cut", "A record that ends within its header", b"\3\1"),
        ("header_ends_in_type", "A record whose header ends within a serial type", b"\2\x81\1\1"),
        ("type_10", "Serial type 10", b"\2\x0a"),
        ("type_11", "Serial type 11", b"\2\x0b"),
        ("short", "A record that is shorter than its header says", b"\3\1\x13\7ab"),
        ("long", "A record that is longer than its header says", b"\3\1\x13\7abcd"),
        ("text_of_2_62", "A text that is longer than any file", b"\x0a" + b"\xff" * 8 + b"\xfd"),
    ]:
        store = Store([table("t", "a,b", [(1, RawRecord(content))])])
        yield vector(f"record_{name}", about, written(store))
    entry: Rows = [(None, RawRecord(b"\3\x0a\1\1"))]
    yield vector("record_of_index", "Records of indexes are held to the same rules", written(Store([table("t", "a", []), index("i", "t", "a", entry)])))


def schemas() -> Iterator[Vector]:
    right: list[Value] = ["table", "t", "t", 2, "CREATE TABLE t(a)"]

    def schema(name: str, about: str, *rows: list[Value]) -> Vector:
        """With a tree on page 2, and one on page 3."""
        store = Store([table("t", "a", []), table("u", "a", [])])
        store.schema_rows = [(key, list(row)) for key, row in enumerate(rows)]
        return vector(f"schema_{name}", about, written(store))

    other: list[Value] = ["table", "u", "u", 3, "CREATE TABLE u(a)"]
    yield schema("four_columns", "A row of sqlite_schema with four columns", right[:4], other)
    yield schema("six_columns", "A row of sqlite_schema with six columns", [*right, None], other)
    wrong: list[tuple[int, Value, str]] = [(0, b"table", "type_blob"), (1, 7, "name_integer"), (2, None, "table_name_null"), (3, "2", "root_text"), (3, 2.0, "root_real"), (4, 1, "sql_integer")]
    for place, value, word in wrong:
        row: list[Value] = [*right[:place], value, *right[place + 1 :]]
        yield schema(word, "A row of sqlite_schema with a column of another type", row, other)
    yield schema("root_twice", "Two rows that name one tree", right, other, ["index", "i", "t", 3, None])
    yield schema("root_1", "A row that names page 1", right, ["table", "u", "u", 1, "CREATE TABLE u(a)"])
    yield schema("root_beyond_end", "A tree on a page that is not there", right, other, ["table", "v", "v", 4, "CREATE TABLE v(a)"])
    yield schema("root_negative", "A tree on a page of a negative number", right, other, ["table", "v", "v", -1, "CREATE TABLE v(a)"])
    yield schema("root_over_2_32", "A number of a page that is right in its low 32 bits alone", right, ["table", "u", "u", 2**32 + 3, "CREATE TABLE u(a)"])
    yield schema("view_with_tree", "A tree that is neither a table's nor an index's", right, ["view", "v", "v", 3, "CREATE VIEW v AS SELECT 1"])
    yield schema("index_of_table_tree", "An index whose tree is one of a table", right, ["index", "i", "t", 3, "CREATE INDEX i ON t(a)"])
    yield schema("index_without_table", "An index of a table that is not there", right, ["index", "i", "T", 3, "CREATE INDEX i ON T(a)"])
    yield schema("index_of_view", "An index of what has no tree", right, ["index", "i", "v", 3, "CREATE INDEX i ON v(a)"], ["table", "v", "v", 0, "CREATE VIRTUAL TABLE v USING x"])
    three = Store([table("t", "a", []), table("u", "a", []), index("i", "t", "a", [])])
    three.schema_rows = [(1, list(right)), (2, ["table", "t", "t", 3, "CREATE TABLE t(a)"]), (3, ["index", "i", "t", 4, None])]
    yield vector("schema_index_of_two_tables", "An index whose table is there twice", written(three))
    raw = Store([Item("table", "t", None, [], no_root=0)])
    raw.schema_rows = [(1, [RawText(b"Table"), "t", "t", 2, None])]
    yield vector("schema_type_upper_case", "A tree of type Table", written(raw))


def trees() -> Iterator[Vector]:
    sound = file(table("t", "a", LONG))  # page 2 is the root, 3 to 5 are its leaves
    first, second = sound.cell(2, 0), sound.cell(2, 1)
    for name, about, damaged in [
        ("page_kind", "A page of no kind", sound.at(3, 0, b"\7")),
        ("child_of_index", "A leaf of an index in a tree of a table", sound.at(3, 0, b"\x0a")),
        ("too_many_cells", "More cells than have room", sound.at(3, 3, b"\xff\xff")),
        ("cell_in_header", "A cell in the header of its page", sound.at(3, 8, struct.pack(">H", 4))),
        ("cell_beyond_end", "A cell beyond the end of its page", sound.at(3, 8, struct.pack(">H", 512))),
        ("cell_over_end", "A cell that goes over the end of its page", sound.at(3, 8, struct.pack(">H", 510))),
        ("child_0", "A child on page 0", sound.at(2, first, struct.pack(">I", 0))),
        ("child_beyond_end", "A child beyond the end of the file", sound.at(2, first, struct.pack(">I", 6))),
        ("child_is_root", "A page that is its own child", sound.at(2, first, struct.pack(">I", 2))),
        ("child_is_page_1", "A child that is page 1", sound.at(2, first, struct.pack(">I", 1))),
        ("child_twice", "A page that is there twice", sound.at(2, first, struct.pack(">I", 4))),
        ("right_child_twice", "A right-most child that is there twice", sound.at(2, 8, struct.pack(">I", 3))),
        ("rowid_twice", "A rowid that is there twice", sound.at(4, sound.cell(4, 0) + 2, b"\1")),
        ("rowid_over_separator", "A rowid above the separator of its leaf", sound.at(2, second + 4, b"\1")),
    ]:
        yield vector(f"tree_{name}", about, damaged)
    def blob_cell(rowid: int) -> bytes:
        content = record([b"c" * 247])
        return varint(len(content)) + varint(rowid) + content

    # The second cell begins within the blob of the first.
    first_cell, second_cell = blob_cell(1), blob_cell(2)
    shared_page = first_cell[:150] + second_cell
    start = 512 - len(shared_page)
    page_2 = struct.pack(">BHHHBHH", 13, 0, 2, start, 0, start, start + 150).ljust(start, b"\0") + shared_page
    one = file(table("t", "a", []))
    yield vector("tree_cells_overlap", "Two cells that share bytes, and have no room side by side", one.at(2, 0, page_2))
    yield vector("tree_loop", "An interior page whose right-most child is the page above it", sound.at(3, 0, struct.pack(">BHHHBI", 5, 0, 0, 512, 0, 2)))
    falling: Rows = [(2, ["x"]), (1, ["y"])]
    yield vector("tree_rowids_fall", "Rowids that fall within a leaf", written(Store([table("t", "a", falling)])))
    rows: Rows = [(key, [b"l" * 300]) for key in range(1, 5)]
    uneven = File(joined(written(Store([table("t", "a", rows)]))))  # 3 to 6 are leaves
    page = bytearray(512)
    page[:12] = struct.pack(">BHHHBI", 5, 0, 1, 507, 0, 6)
    page[12:14] = struct.pack(">H", 507)
    page[507:512] = struct.pack(">IB", 5, 3)
    count = File(uneven.with_bytes(28, struct.pack(">I", 7)) + bytes(page))
    root = bytearray(512)
    root[:12] = struct.pack(">BHHHBI", 5, 0, 2, 502, 0, 7)
    root[12:16] = struct.pack(">HH", 507, 502)
    root[502:512] = struct.pack(">IBIB", 4, 2, 3, 1)
    yield vector("tree_uneven", "Leaves in several depths", count.at(2, 0, bytes(root)))
    shared = Store([table("t", "a", LONG), table("u", "a", [(1, ["x"])])])
    two = File(joined(written(shared)))
    yield vector("tree_page_of_two", "A page in two trees, and one in none", two.at(2, two.cell(2, 0), struct.pack(">I", 3)))
    mapped = File(joined(written(Store([table("t", "a", LONG)], auto_vacuum=True))))  # page 3 is the root
    yield vector("tree_pointer_map", "A child that is a pointer map page", mapped.at(3, mapped.cell(3, 0), struct.pack(">I", 2)))


def chains() -> Iterator[Vector]:
    for name, row in [("", table("t", "a", [(1, [b"o" * 1200])])), ("index_", keyed([[b"o" * 1200]]))]:
        sound = file(row)  # page 2 is the root, those from 3 on are the chain of its cell
        last = len(sound.data) // 512
        points: list[tuple[str, str, Callable[[], bytes]]] = [
            ("ends_early", "An overflow chain that ends too early", lambda: sound.at(3, 0, bytes(4))),
            ("does_not_end", "An overflow chain that goes on after the last byte", lambda: sound.at(last, 0, struct.pack(">I", 3))),
            ("to_itself", "An overflow page that goes on in itself", lambda: sound.at(3, 0, struct.pack(">I", 3))),
            ("beyond_end", "An overflow page beyond the end of the file", lambda: sound.at(3, 0, struct.pack(">I", 9))),
            ("first_is_0", "A payload that is too long for its cell, without overflow pages", lambda: sound.at(2, 508, bytes(4))),
            ("is_a_tree", "An overflow page that is the root", lambda: sound.at(3, 0, struct.pack(">I", 2))),
        ]
        for point, about, damaged in points:
            yield vector(f"chain_{name}{point}", about, damaged())
