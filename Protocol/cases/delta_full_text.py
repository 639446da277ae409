"""Leaves of full-text indexes in a delta, and trees that come later (`DELTA.md` 2, `COLUMNS.md` 1.4)."""

from __future__ import annotations

from collections.abc import Iterator

from cases.canonical import index, keyed, table
from cases.delta import DERIVED, LAST, LITERAL, PART, REST, SAME, SKIP, JUMPS, bad, good, numbers, row_group, stored
from cases.full_text import FIRST, TEXTS, WORDS, data, kept, shape, texts
from encoder import segment as s
from encoder.full_text import leaves
from encoder.segment import Part
from encoder.store_pages import Item, Rows, Store
from encoder.store_stream import ROWID, column, zigzag
from encoder.vector import Vector

LATER, LEAVES = 5, 6
OLD, NEW = 5, 9
"""The last rowid that the base has, and that of the row that comes."""
SECOND = 2 << 37 | 1
"""The rowid of the first leaf of FTS5's index number 2, which is of the row that comes."""

OLD_LEAVES = leaves([each for each in WORDS if each.rowid <= OLD], 40)
NEW_LEAVES = leaves([each for each in WORDS if each.rowid == NEW], 12)
SIZES = [leaf.size for leaf in NEW_LEAVES]
LAST_ROW: Rows = [(SECOND + 100, [None, b"of another index"])]
MADE: Rows = [(SECOND + place, [None, leaf.bytes()]) for place, leaf in enumerate(NEW_LEAVES)]


def indexes(new: Rows, last: Rows | None = None) -> Item:
    return data([leaf.bytes() for leaf in OLD_LEAVES], after=[*new, *(last or [])])


BEHIND = Store([texts(TEXTS[:3]), indexes([])])
"""The content comes first."""
AHEAD = Store([indexes([]), texts(TEXTS[:3])])


def begin(content: int, sizes: list[int], rowid: int = SECOND) -> Part:
    return numbers(LEAVES, 1, *shape(content, NEW, NEW), zigzag(rowid), 0, 0, len(sizes), *sizes)


def go_on(sizes: list[int], rowid: int, part: int) -> Part:
    return numbers(LEAVES, 0, zigzag(rowid), 0, part, len(sizes), *sizes)


def grown(count: int) -> Part:
    """A part of a tree: a row comes after so many that stay."""
    return s.parts(numbers(PART, 0, LAST | LITERAL, 1), s.constant(count), row_group(TEXTS[3:], True))


def staying(count: int, head: int = 0) -> Part:
    """The first part of a tree: so many rows stay."""
    return s.parts(numbers(PART, head, SKIP | JUMPS, 1), s.constant(count), s.constant(-1))


FRONT = numbers(0, SAME, 0)
END = numbers(PART, LAST, 0)
STAYING = staying(len(OLD_LEAVES))


def vectors() -> Iterator[Vector]:
    behind = Store([texts(), indexes(MADE)])
    yield good("leaves", "Leaves that follow from a table before them", behind, stored(FRONT, grown(3), STAYING, begin(1, SIZES), END), base=BEHIND)
    single = [begin(1, SIZES[:1]), go_on(SIZES[1:], SECOND + 1, NEW_LEAVES[1].begins[1])]
    apart = (stored(FRONT, grown(3), STAYING, single[0]), stored(single[1]), stored(END))
    yield good("leaves_apart", "The same, in segments of their own", behind, *apart, base=BEHIND)
    between = Store([texts(), indexes(MADE, LAST_ROW)])
    rest = Store([texts(TEXTS[:3]), indexes([], LAST_ROW)])
    yield good("leaves_between", "Leaves between rows that stay", between, stored(FRONT, grown(3), STAYING, begin(1, SIZES), numbers(PART, LAST | REST, 0)), base=rest)
    after = s.parts(numbers(PART, LAST | LITERAL, 1), s.constant(0), row_group([(None, [None, b"a row after"])]))
    last: Rows = [(SECOND + len(MADE), [None, b"a row after"])]
    yield good("leaves_then_row", "A literal row without a rowid after leaves", Store([texts(), indexes(MADE, last)]), stored(FRONT, grown(3), STAYING, begin(1, SIZES), after), base=BEHIND)
    ahead = Store([indexes(MADE), texts()])
    put_off = numbers(LATER, kept(ahead, ahead.items[0]))
    yield good("later", "A tree that comes after the one that its leaves follow from", ahead, stored(FRONT, put_off, grown(3), STAYING, begin(2, SIZES), END), base=AHEAD)
    as_it_was = Store([indexes([]), texts()])
    yield good("later_same", "A tree that comes later, and is as in the base", as_it_was, stored(FRONT, numbers(LATER, kept(as_it_was, as_it_was.items[0])), grown(3)), base=AHEAD)
    fresh = Store([texts(TEXTS[3:]), data([leaf.bytes() for leaf in NEW_LEAVES])])
    made = s.parts(numbers(PART, 2, 0, 0), begin(1, SIZES, FIRST))
    schema = row_group([(2, ["table", "f_data", "f_data", 1, fresh.items[1].sql])])
    one_more = s.parts(numbers(2), s.raw(s.signed(1), "one tree more"), numbers(PART, 0, LAST | LITERAL, 1), s.constant(1), schema)
    yield good("leaves_of_new_table", "Leaves in a table without a base", fresh, stored(one_more, numbers(SAME, 0), made, END), base=Store([texts(TEXTS[3:])]))
    yield from refused(put_off)


def refused(put_off: Part) -> Iterator[Vector]:
    def one(name: str, about: str, *each: Part, base: Store = BEHIND) -> Vector:
        return bad(name, about, FRONT, *each, base=base)

    item = begin(1, SIZES)
    yield one("leaves_of_no_tree", "Leaves before a tree has begun", grown(3), item)
    yield one("leaves_go_on_with_none", "Leaves that go on with no index", grown(3), STAYING, go_on(SIZES, SECOND, 0), END)
    yield bad("leaves_of_schema", "Leaves in sqlite_schema", numbers(0), staying(2), item, END, base=BEHIND)
    yield one("leaves_too_early", "The content's rows have not come", STAYING, begin(2, SIZES), END, base=AHEAD)
    yield one("leaves_of_itself", "The content is the leaves' own tree", grown(3), STAYING, begin(2, SIZES), END)
    yield one("leaves_of_schema_rows", "The content is sqlite_schema", grown(3), STAYING, begin(0, SIZES), END)
    yield one("leaves_fall", "A leaf before a row that stays", grown(3), STAYING, begin(1, SIZES, 1), END)
    yield one("leaves_size", "A leaf that ends within a term", grown(3), STAYING, begin(1, [6]), END)
    merged = Store([texts(TEXTS[:3]), table("x", "a", [(1, ["b"])]), index("i", "x", "a", [(None, ["b", 1])])])
    announced = s.parts(numbers(PART, 8, 1, 0, 2, column(0), ROWID, SKIP, 1), s.constant(0))
    yield one("leaves_with_merged", "Leaves in a table with a merged index", grown(3), announced, item, END, numbers(DERIVED, 2, column(0), ROWID), base=merged)
    yield one("leaves_of_entries", "Leaves in a table WITHOUT ROWID", grown(3), staying(1), item, END, base=Store([texts(TEXTS[:3]), keyed([["x"]])]))
    yield one("leaves_utf_16", "Leaves in a store in UTF-16", numbers(SAME, 0), STAYING, item, END, base=Store([texts(TEXTS[1:2]), indexes([])], encoding="utf-16-le"))
    yield bad("later_schema", "sqlite_schema comes later", numbers(0, LATER, 0), base=BEHIND)
    yield one("later_more_pages", "A tree that leaves a page", numbers(LATER, 1), numbers(SAME, 0), base=AHEAD)
    yield one("later_2_32", "More pages for a tree than there can be", numbers(LATER, 2**32), base=AHEAD)
    yield one("later_again", "A tree that comes later, put off once more", put_off, grown(3), put_off, base=AHEAD)
    yield one("later_in_tree", "A tree comes later while one has not ended", STAYING, put_off, base=AHEAD)
    indexed = Store([indexes([]), index("i", "f_data", "id", []), texts(TEXTS[:3])])
    yield one("later_with_index", "A table with an index comes later", put_off, base=indexed)
    two = Store([indexes([]), table("g_data", "id INTEGER PRIMARY KEY,block BLOB", []), texts(TEXTS[:3])])
    yield one("leaves_of_later", "The content comes later itself", put_off, numbers(LATER, 0), grown(3), staying(len(OLD_LEAVES)), begin(2, SIZES), END, base=two)
