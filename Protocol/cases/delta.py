"""Deltas (`DELTA.md`): a base, segments, and the file that they make."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from cases.canonical import index, keyed, table
from cases.deflated_strings import CONTENT, GOOD
from encoder import segment as s
from encoder.deflate import DeflateStream, matched
from encoder.piece import Piece, Pieces, binary, joined
from encoder.segment import Areas, Part
from encoder.store_pages import Item, Rows, Store, written
from encoder.store_record import record
from encoder.store_stream import ROWID, column
from encoder.vector import Vector

SAME, PART, DERIVED, MERGED, PIECE = range(5)
LAST, REST, LENGTHS, JUMPS, SHIFTS, COUNTS = 1, 2, 4, 8, 16, 32
EDIT, LITERAL, SKIP, LONG = 64, 128, 192, 256

HERBS: Rows = [(1, ["dill", 5]), (7, ["salt", 1]), (2**40, ["mace", None])]
ENTRIES: Rows = [(None, [None, 2**40]), (None, [1, 7]), (None, [5, 1])]
SHAPE = [2, column(1), ROWID]


def store(rows: Rows, entries: Rows, *more: Item, page_size: int = 512) -> Store:
    items = [table("t", "a,b", rows), index("i", "t", "b", entries), keyed([["x"], ["y"]]), *more]
    return Store(items, page_size)


BASE = store(HERBS, ENTRIES)


def numbers(*values: int) -> Part:
    return s.parts(*(s.number(value) for value in values))


def delta_content(part: Part) -> Pieces:
    areas = Areas()
    part(areas)
    sizes = [(len(joined(areas.control)), "bytes of control"), (len(joined(areas.numbers)), "bytes of numbers"), (0, "matches")]
    return [*(Piece(s.varint(size), f"{size} {what}") for size, what in sizes), *areas.control, *areas.numbers, *areas.text]


def stored(*each: Part) -> Pieces:
    return s.stored(delta_content(s.parts(*each)))


def preset(runs: list[tuple[int, int, int]], dictionary: bytes, *each: Part) -> Pieces:
    data = joined(delta_content(s.parts(*each)))
    front = [Piece(b"\2", "form 2: after rows of the base"), Piece(s.varint(len(runs)), f"{len(runs)} runs")]
    front += [Piece(b"".join(map(s.varint, run)), "tree, first row, rows") for run in runs]
    packed = DeflateStream().fixed(matched(data, dictionary)).finished()
    return [*front, Piece(s.varint(len(data)), f"{len(data)} bytes of content"), Piece(packed, "deflate stream")]


def good(name: str, about: str, result: Store | bytes, *segments: Pieces, base: Store | bytes = BASE) -> Vector:
    data = result if isinstance(result, bytes) else joined(written(result))
    before = binary(base) if isinstance(base, bytes) else written(base)
    page_size = 512 if isinstance(result, bytes) else result.page_size
    details = [("size", str(len(data))), ("page-size", str(page_size)), ("sha256", hashlib.sha256(data).hexdigest())]
    sections = [("base", before), *(("segment", each) for each in segments)]
    return Vector(f"delta_{name}", about, "delta", "delta", None, details, sections)


def bad(name: str, about: str, *each: Part, segment: Pieces | None = None, base: Store = BASE) -> Vector:
    before = written(base)
    details = [("size", str(len(joined(before)))), ("page-size", str(base.page_size))]
    found = stored(*each) if segment is None else segment
    return Vector(f"delta_{name}", about, "delta", "delta", "damaged", details, [("base", before), ("segment", found)])


def row_group(rows: Rows, has_rowids: bool = False) -> Part:
    records = [record(list(values)) for _, values in rows if isinstance(values, list)]
    rowids = s.varints([rowid or 0 for rowid, _ in rows]) if has_rowids else None
    sizes = s.varints([len(each) for each in records])
    return s.group(len(rows), sizes, *(s.text(each, "record") for each in records), rowids=rowids, row_wise=True)


def vectors() -> Iterator[Vector]:
    yield from trees()
    yield from rows()
    yield from maps()
    yield from edits()
    yield from long_rows_and_files()
    yield from refused()
    yield from work()


def trees() -> Iterator[Vector]:
    yield good("nothing", "All trees are as in the base, without an item", BASE, stored(numbers(0)))
    yield good("same", "The same, said of two trees, and in two segments", BASE, stored(numbers(0)), stored(numbers(SAME, 1)))
    yield good("settings", "Another page size and user version", Store(store(HERBS, ENTRIES).items, 1024, user_version=-1), stored(numbers(4, 65, 1024, 2**32 - 1)))
    new = table("n", "a", [(1, [2])])
    named = row_group([(4, ["table", "n", "n", 1, "CREATE TABLE n(a)"])])
    made = [
        s.parts(numbers(2), s.raw(s.signed(1), "one tree more"), numbers(PART, 4, LAST | LITERAL, 1), s.constant(4), named),
        numbers(SAME, 2, PART, 2, LAST | LITERAL, 1), s.constant(0), row_group([(1, [2])]),
    ]  # fmt: skip
    # Rows of sqlite_schema: t, i, w, n; the fourth comes after three that stay.
    made[0] = s.parts(numbers(2), s.raw(s.signed(1), "one tree more"), numbers(PART, 4, LAST | LITERAL, 1), s.constant(3), named)
    yield good("new_table", "A table that the base has not", store(HERBS, ENTRIES, new), stored(*made))
    gone = Store([table("t", "a,b", HERBS), keyed([["x"], ["y"]])])
    yield good("index_gone", "An index that is no more: its row of sqlite_schema goes", gone, stored(numbers(2), s.raw(s.signed(-1), "one tree less"), numbers(PART, 4, LAST | REST | SKIP, 1), s.constant(1)))
    twice = store(HERBS, ENTRIES, table("c", "a,b", HERBS))
    copy = row_group([(4, ["table", "c", "c", 1, "CREATE TABLE c(a,b)"])])
    yield good("base_by_number", "A table made of another one", twice, stored(numbers(2), s.raw(s.signed(1), "one tree more"), numbers(PART, 4, LAST | LITERAL, 1), s.constant(3), copy, numbers(SAME, 2, PART, 1, 1, LAST | REST, 0)))


def rows() -> Iterator[Vector]:
    entries: Rows = [ENTRIES[0], ENTRIES[2]]
    one = store([HERBS[0], HERBS[2]], entries)
    skip = s.parts(numbers(LAST | REST | SKIP, 1), s.constant(1))
    yield good("deleted", "A row goes, and the index follows from the table", one, stored(numbers(0, SAME, 0, PART, 0), skip, numbers(DERIVED, *SHAPE)))
    yield good("merged", "The same, the index merged", one, stored(numbers(0, SAME, 0, PART, 8, 1, 0, *SHAPE), skip, numbers(MERGED)))
    yield good("rest_gone", "What no part says of the last rows: they go", store(HERBS[:2], ENTRIES[1:]), stored(numbers(0, SAME, 0, PART, 8, 1, 0, *SHAPE, LAST | SKIP | JUMPS, 1), s.constant(2), s.constant(-1), numbers(MERGED)))
    more: Rows = [*HERBS, (2**40 + 1, ["thyme", 4]), (2**40 + 9, ["rue", 5])]
    found: Rows = [ENTRIES[0], ENTRIES[1], (None, [4, 2**40 + 1]), (None, [5, 1]), (None, [5, 2**40 + 9])]
    literal = s.parts(numbers(LAST | LITERAL | LENGTHS, 1), s.constant(3), s.constant(2), row_group(more[3:], True))
    yield good("inserted", "New rows with their rowids", store(more, found), stored(numbers(0, SAME, 0, PART, 8, 1, 0, *SHAPE), literal, numbers(MERGED)))
    counted: Rows = [(place, values) for place, (_, values) in enumerate(HERBS, start=1)]
    order: Rows = [(None, [None, 3]), (None, [1, 2]), (None, [5, 1])]
    yield good("counted", "Rowids count up; the index follows from both", store(counted, order), stored(numbers(0, SAME, 0, PART, 12, 1, 0, *SHAPE, LAST | REST, 0, MERGED)))
    moved: Rows = [(8, HERBS[1][1]), (9, HERBS[0][1]), (2**40 + 8, HERBS[2][1])]
    turned: Rows = [(None, [None, 2**40 + 8]), (None, [1, 8]), (None, [5, 9])]
    events = s.parts(numbers(LAST | REST | SKIP | JUMPS | SHIFTS, 3), s.varints([0, 1, 1]), s.varints([0, -3, 0]), s.varints([1, 7, 0]))
    yield good("moved", "Rows in another order, with other rowids", store(moved, turned), stored(numbers(0, SAME, 0, PART, 0), events, numbers(DERIVED, *SHAPE)))
    first = s.parts(numbers(SKIP, 1), s.constant(1))
    yield good("two_parts", "A tree in two parts, in two segments", one, stored(numbers(0, SAME, 0, PART, 8, 1, 0, *SHAPE), first), stored(numbers(PART, LAST | REST, 0, MERGED)))


def maps() -> Iterator[Vector]:
    front = numbers(0, SAME, 0, PART)
    turned: Rows = [(rowid, values[::-1]) for rowid, values in HERBS]  # type: ignore[misc]
    by_name: Rows = [(None, ["dill", 1]), (None, ["mace", 2**40]), (None, ["salt", 7])]
    yield good("columns_moved", "A map of columns: two that changed places", store(turned, by_name), stored(front, numbers(16, 2, 2, 1, LAST | REST, 0, DERIVED, *SHAPE)))
    dropped: Rows = [(1, [5]), (2**40, [None])]
    skip = s.parts(numbers(LAST | REST | SKIP, 1), s.constant(1))
    merged = numbers(24, 1, 2, 1, 0, 2, column(0), ROWID)
    yield good("columns_dropped", "A column that goes, and a row; the merged index follows from the rows that the map makes", store(dropped, [ENTRIES[0], ENTRIES[2]]), stored(front, merged, skip, numbers(MERGED)))
    wider: Rows = [(1, ["dill", None, 6, None]), *((rowid, [values[0], None, values[1], None]) for rowid, values in HERBS[1:])]  # type: ignore[index]
    edit = s.parts(numbers(LAST | REST | EDIT, 1), s.constant(0), numbers(1, 1, 2), s.raw(b"\2", "way 1"), s.constant(1))
    nothing: Rows = [(None, [None, 1]), (None, [None, 7]), (None, [None, 2**40])]
    yield good("columns_added", "Columns that the base lacks are NULL; a row that the map makes is edited", store(wider, nothing), stored(front, numbers(16, 4, 1, 0, 2, 9), edit, numbers(DERIVED, *SHAPE)))
    twice = store(HERBS, ENTRIES, table("c", "b,a", turned))
    copy = row_group([(4, ["table", "c", "c", 1, "CREATE TABLE c(b,a)"])])
    yield good("columns_by_number", "A map of columns of another table", twice, stored(numbers(2), s.raw(s.signed(1), "one tree more"), numbers(PART, 4, LAST | LITERAL, 1), s.constant(3), copy, numbers(SAME, 2, PART, 17, 1, 2, 2, 1, LAST | REST, 0)))
    yield bad("columns_twice", "A column of the base that comes twice", front, numbers(16, 2, 1, 1, LAST | REST, 0))
    yield bad("columns_beyond", "A column of the base that no row has", front, numbers(16, 1, 32_768, LAST | REST, 0))
    yield bad("columns_many", "More columns than a row has", front, numbers(16, 32_768, LAST | REST, 0))
    yield bad("columns_without_base", "A map of columns without a base", front, numbers(18, 1, 1, LAST, 0))
    yield bad("columns_of_schema", "A map of columns for sqlite_schema", numbers(0, PART, 16, 5, 1, 2, 3, 4, 5, LAST | REST, 0))
    long = Store([table("l", "a", [(1, [b"z" * 270_000])])], 4096)
    yield bad("columns_long_row", "A long row that stays, with a map of columns", front, numbers(16, 1, 1, LAST | REST, 0), base=long)


def edits() -> Iterator[Vector]:
    front = numbers(0, SAME, 0, PART, 0)

    def edited(way: int, *values: Part, place: int = 0, of: int = 0) -> list[Part]:
        return [numbers(LAST | REST | EDIT, 1), s.constant(place), numbers(1, 1, of), s.raw(bytes([1 << way]), f"way {way}"), *values]

    def herbs(place: int, values: list[object]) -> Rows:
        return [(rowid, values if at == place else each) for at, (rowid, each) in enumerate(HERBS)]  # type: ignore[list-item, misc]

    changed = store(herbs(0, ["dill", 7]), [ENTRIES[0], ENTRIES[1], (None, [7, 1])])
    yield good("difference", "An integer less the one before", changed, stored(front, *edited(1, s.constant(2), of=1), numbers(DERIVED, *SHAPE)))
    text = s.plain(8, s.lengths([b"cress"]))
    yield good("whole", "A value as it is", store(herbs(2, ["cress", None]), ENTRIES), stored(front, *edited(0, text, place=2)))
    stream = s.plain(s.BLOB, s.deflated_strings(s.constant(s.way_to_deflate(5)), s.lengths([CONTENT])))
    yield good("whole_deflated", "A value as what it was deflated from", store(herbs(2, [GOOD, None]), ENTRIES), stored(front, *edited(0, stream, place=2)))
    spliced = [s.constant(1), s.constant(2), s.lengths([b"ol"])]
    yield good("from_end", "A text of which the end stays", store(herbs(0, ["doll", 5]), ENTRIES), stored(front, *edited(3, *spliced)))
    yield good("from_start", "A text of which the start stays", store(herbs(0, ["dol", 5]), ENTRIES), stored(front, *edited(4, s.constant(1), s.constant(3), s.lengths([b"ol"]))))
    summed = store(herbs(1, ["salt", 3.5]), [ENTRIES[0], (None, [3.5, 7]), ENTRIES[2]])
    yield good("sum", "An integer that becomes a real when another is added", summed, stored(front, *edited(2, s.decimal(1, s.constant(25)), place=1, of=1), numbers(DERIVED, *SHAPE)))
    both: Rows = [(1, ["dill", 6]), (7, ["salt", 2]), (2**40, ["mace", "n"])]
    mixed = [
        numbers(LAST | EDIT | LENGTHS, 1), s.constant(0), s.constant(3), numbers(1, 1, 1), s.raw(b"\3", "ways 0 and 1"),
        s.varints([1, 1, 0]), s.plain(8, s.lengths([b"n"])), s.constant(1),
    ]  # fmt: skip
    entries: Rows = [(None, [2, 7]), (None, [6, 1]), (None, ["n", 2**40])]
    yield good("several_ways", "Each row in a way of its own", store(both, entries), stored(front, *mixed, numbers(DERIVED, *SHAPE)))
    wide = store([(rowid, [*values, 9]) for rowid, values in HERBS], ENTRIES)  # type: ignore[misc]
    more = [numbers(LAST | EDIT | LENGTHS | COUNTS, 1), s.constant(0), s.constant(3), s.constant(1), numbers(1, 1, 2), s.raw(b"\1", "way 0"), s.plain(2, s.constant(9))]
    yield good("more_columns", "Rows with a column more", wide, stored(front, *more))
    dictionary = b"dill\0salt\0mace\0"
    preset_text = s.plain(8, s.lengths([b"salt and mace and dill"]))
    yield good("dictionary", "Text that repeats what the base has", store(herbs(0, ["salt and mace and dill", 5]), ENTRIES), preset([(1, 0, 3)], dictionary, front, *edited(0, preset_text)))


    zeros = DeflateStream().fixed(matched(bytes(1_048_576))).finished()
    inflated = Store([table("z", "x", [(1, [zeros]), (2, ["never in the dictionary"])])], 512)
    longer = Store([table("z", "x", [(1, [zeros]), (2, ["never in the dictionary"]), (3, [bytes(64)])])], 512)
    new_row = s.parts(numbers(0, SAME, 0, PART, 0, LAST | LITERAL, 1), s.constant(2), row_group([(3, [bytes(64)])], True))
    after = preset([(1, 0, 2)], bytes(1_048_577), new_row)
    yield good("dictionary_inflated_size", "A run that stops after what a blob inflates to", longer, after, base=inflated)


def piece(*steps: tuple[bytes, int, int]) -> Part:
    """New bytes, how many are copied, and from where, less the end of the copy before."""
    each = [s.parts(s.number(len(new)), s.text(new, "new"), s.number(length), *([s.raw(s.signed(start), f"from {start}")] if length else [])) for new, length, start in steps]
    return s.parts(s.number(PIECE), s.number(len(steps)), *each)


def long_rows_and_files() -> Iterator[Vector]:
    short = Store([table("l", "a", [(1, [b"s"])])], 4096)
    first, second = (Store([table("l", "a", [(1, [b"s"]), (2, [b"z" * size])])], 4096) for size in (270_000, 270_001))
    content, other = (record([b"z" * size]) for size in (270_000, 270_001))
    head = numbers(0, SAME, 0, PART, 0, LONG, 1)
    fresh = stored(head, s.constant(1), numbers(len(content), 0), piece((content[:9], 0, 0), (content[9:], 0, 0)), numbers(PART, LAST, 0))
    yield good("long_row", "A long row that is new", first, fresh, base=short)
    copied = piece((other[:4], 269_000, 4), (b"z" * 1000 + other[-1:], 0, 0))
    yield good("long_row_of_base", "A long row made of another", second, stored(head, s.constant(1), numbers(len(other), 1), copied, numbers(PART, LAST, 0)), base=first)
    less = Store([table("l", "a", [(1, [b"s"]), (2, [b"z" * 20_000])])], 4096)
    small = record([b"z" * 20_000])
    cut = piece((small[:4], len(small) - 4, 4))
    yield good("short_row_of_base", "A row that is no longer long, made of the long one", less, stored(head, s.constant(1), numbers(len(small), 1), cut, numbers(PART, LAST, 0)), base=first)
    old = joined(written(BASE))
    size = (len(old) + 512) // 512 * 512
    new = (old[:100] + b"other bytes" + old[100:501] + old)[:size]
    steps = piece((b"", 100, 0), (b"other bytes", 401, 0), (b"", size - 512, -501))
    yield good("file", "A file by its bytes", new, stored(numbers(1), steps))


def refused() -> Iterator[Vector]:
    front = numbers(0, SAME, 0, PART, 0)
    yield bad("head", "Flags at the beginning that mean nothing", numbers(8))
    yield bad("trees", "More trees than there may be", numbers(2), s.raw(s.signed(70_000)))
    yield bad("item", "An item that there is not", numbers(0, 5))
    yield bad("same_beyond", "More trees that stay than there are", numbers(0, SAME, 4))
    yield bad("schema_without_base", "sqlite_schema without a base", numbers(0, PART, 2, LAST, 0))
    yield bad("no_such_tree", "A base that there is not", numbers(0, SAME, 0, PART, 1, 9, LAST, 0))
    yield bad("rows_beyond", "More rows that stay than the base has", front, numbers(LAST | SKIP, 1), s.constant(4))
    yield bad("jump_beyond", "A jump out of the tree", front, numbers(LAST | SKIP | JUMPS, 1), s.constant(0), s.constant(9))
    yield bad("jump_before", "A jump to before the first row", front, numbers(LAST | SKIP | JUMPS, 1), s.constant(0), s.constant(-2))
    yield bad("jump_back_merged", "A jump back in a table with a merged index", numbers(0, SAME, 0, PART, 8, 1, 0, *SHAPE, LAST | REST | SKIP | JUMPS, 1), s.constant(2), s.constant(-2))
    yield bad("events", "More events than there may be", front, numbers(LAST | SKIP, 262_145), s.constant(0))
    yield bad("edited_rows", "More edited rows than there may be", front, numbers(LAST | EDIT | LENGTHS, 1), s.constant(0), s.constant(262_145), numbers(1, 0))
    yield bad("no_rows_edited", "An event of no rows", front, numbers(LAST | EDIT | LENGTHS, 1), s.constant(0), s.constant(0))
    yield bad("rest_not_last", "A part that is not the last, and copies the rest", front, numbers(REST, 0))
    schema = s.parts(numbers(2), s.raw(s.signed(1), "one tree more"), numbers(PART, 4, LAST | LITERAL, 1), s.constant(3))
    yield bad("rest_of_no_base", "The rest of a tree without a base", schema, row_group([(4, ["table", "n", "n", 1, "CREATE TABLE n(a)"])]), numbers(SAME, 2, PART, 2, LAST | REST, 0))
    yield bad("edited_column", "A column that the row has not", front, numbers(LAST | REST | EDIT, 1), s.constant(0), numbers(1, 1, 2), s.raw(b"\1"), s.plain(2, s.constant(9)))
    yield bad("way", "A way that there is not", front, numbers(LAST | REST | EDIT, 1), s.constant(0), numbers(1, 1, 0), s.raw(b"\x20", "way 5"))
    yield bad("difference_of_text", "A difference from a text", front, numbers(LAST | REST | EDIT, 1), s.constant(0), numbers(1, 1, 0), s.raw(b"\2"), s.constant(1))
    yield bad("splice_beyond", "A splice of more bytes than there are", front, numbers(LAST | REST | EDIT, 1), s.constant(0), numbers(1, 1, 0), s.raw(b"\x10"), s.constant(3), s.constant(2), s.lengths([b"x"]))
    yield bad("rowids", "Rowids that do not rise", front, numbers(LAST | LITERAL, 1), s.constant(3), row_group([(7, ["x", 1])], True))
    yield bad("merged_unannounced", "A merged index that was not announced", numbers(0, SAME, 1, MERGED))
    yield bad("merged_entry_missing", "An index of another shape is merged: what goes is not there", numbers(0, SAME, 0, PART, 8, 1, 0, 2, column(0), ROWID, LAST | REST | SKIP, 1), s.constant(1), numbers(MERGED))
    yield bad("table_derived", "A table that is derived", numbers(0, SAME, 0, DERIVED, *SHAPE))
    yield bad("tree_cut", "A tree without its last part", front, numbers(0, 0))
    yield bad("long_row_short", "A long row of few bytes", front, numbers(LONG, 1), s.constant(0), numbers(100, 0))
    yield bad("long_row_of_nothing", "A row of no bytes that is made of another", front, numbers(LONG, 1), s.constant(0), numbers(0, 1), numbers(PART, LAST, 0))
    yield bad("copy_beyond", "A copy from beyond the source", numbers(1), piece((b"", 1000, 10_000)))
    yield bad("copy_before", "A copy from before the source", numbers(1), piece((b"", 10, -1)))
    yield bad("result_too_large", "More bytes than the manifest says", numbers(1), piece((b"", 512, 0), (b"", 512, -512), (b"", 2560, -512)))
    yield bad("result_too_small", "Fewer bytes than the manifest says", numbers(1), piece((b"", 512, 0)))
    yield bad("dictionary_tree", "A dictionary of a tree that the base has not", segment=preset([(9, 0, 1)], b"", numbers(0)))
    yield bad("dictionary_rows", "A dictionary from beyond the end of a tree", segment=preset([(1, 4, 1)], b"", numbers(0)))
    yield bad("no_form", "A form that there is not", segment=[Piece(b"\3", "form 3")])


def work() -> Iterator[Vector]:
    """Valid segments that ask for more than anything pays for (`DELTA.md` 8)."""
    past = DeflateStream().fixed(matched(bytes(1_048_577))).finished()
    blobs = Store([table("b", "x", [(place, [past]) for place in range(1, 10)])], 512)
    runs = preset([(1, 0, 9)] * 16, (past + b"\0") * 144, numbers(0))
    yield good("dictionary_work", "A dictionary of blobs that inflate past the limit", blobs, runs, base=blobs)
    details = [("size", str(len(joined(written(blobs))))), ("page-size", "512")]
    sections = [("base", written(blobs)), ("segment", runs), ("segment", runs)]
    yield Vector("delta_dictionary_work_over", "The same twice: more than a part may ask for", "delta", "delta", "damaged", details, sections)
    # Two bits an event: a row forward and a row back.
    front, bits = numbers(0, SAME, 0, PART, 0), s.parts(s.raw(b"\7\2", "packed, 2 bits"), s.raw(s.signed(-2), "base -2"))
    events = s.parts(numbers(SKIP | JUMPS, 262_144), s.constant(0), bits, lambda areas: areas.put_numbers(262_144, b"\x22" * 65_536))

    def to_and_fro(parts: int) -> Pieces:
        more = [s.parts(numbers(PART), events)] * (parts - 1)
        return s.deflated(delta_content(s.parts(front, events, *more, numbers(PART, LAST | REST, 0))))

    yield good("jumps", "Many jumps to and fro", BASE, to_and_fro(3))
    yield bad("jumps_over", "More jumps to and fro than a part may have", segment=to_and_fro(6))
