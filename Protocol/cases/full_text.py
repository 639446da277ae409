"""Leaves of full-text indexes that follow from another table (`COLUMNS.md` 1.4), and trees whose rows come later (1.1)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from cases.canonical import index, keyed, table
from cases.earlier import bytes_of, referring
from cases.store_rows import segment
from encoder.full_text import Posting, leaves
from encoder.piece import joined
from encoder.segment import Run
from encoder.sqlite_file import RawText
from encoder.store_pages import Item, Layout, Rows, Store, nodes, written
from encoder.store_stream import END, LATER, LEAVES, TABLE, group, items, zigzag
from encoder.store_stream import Item as StreamItem
from encoder.vector import Vector

FIRST = 1 << 37 | 1
"""The rowid of the first leaf of FTS5's index number 1."""
CONTENT_FIRST, CONTENT_LAST = 1, 2
"""The place of the content's tree, if it comes before that of the leaves, or after it."""

TEXTS: Rows = [
    (1, ["The herb, the HERB", "salt & 12 herbs", 7]),
    (2, ["mace", None, -12]),
    (5, ["  ", "the salt", 1.5]),
    (9, [b"the", "The", 12]),
]
WORDS = [
    Posting(b"0the", 1, [(0, 0), (0, 2)]), Posting(b"0herb", 1, [(0, 1), (0, 3)]), Posting(b"0salt", 1, [(1, 0)]),
    Posting(b"012", 1, [(1, 1)]), Posting(b"0herbs", 1, [(1, 2)]), Posting(b"07", 1, [(2, 0)]),
    Posting(b"0mace", 2, [(0, 0)]), Posting(b"012", 2, [(2, 0)]),
    Posting(b"0the", 5, [(1, 0)]), Posting(b"0salt", 5, [(1, 1)]),
    Posting(b"0the", 9, [(1, 0)]), Posting(b"012", 9, [(2, 0)]),
]  # fmt: skip
COLUMNS = [1, 2, 3]


def shape(content: int, first: int = 1, last: int = 9, columns: list[int] = COLUMNS, prefixes: list[int] | None = None, folds: list[int] | None = None) -> list[int]:
    """`folds`: the numbers of each pair, one after the other."""
    prefixes, folds = prefixes or [], folds or []
    return [content, zigzag(first), zigzag(last), len(columns), *columns, len(prefixes), *prefixes, len(folds) // 2, *folds]


def begin(of: list[int], sizes: list[int], rowid: int = FIRST, passed: int = 0, part: int = 0) -> StreamItem:
    return [LEAVES, 1, *of, zigzag(rowid), passed, part, len(sizes), *sizes]


def go_on(sizes: list[int], rowid: int, passed: int = 0, part: int = 0) -> StreamItem:
    return [LEAVES, 0, zigzag(rowid), passed, part, len(sizes), *sizes]


def data(made: list[bytes], before: Rows | None = None, after: Rows | None = None) -> Item:
    rows: Rows = [(FIRST + place, [None, each]) for place, each in enumerate(made)]
    return table("f_data", "id INTEGER PRIMARY KEY,block BLOB", [*(before or []), *rows, *(after or [])])


def texts(rows: Rows = TEXTS) -> Item:
    return table("f_content", "a,b,c", rows)


def kept(store: Store, item: Item) -> int:
    """Pages of a tree beside its root."""
    layout = Layout(store, is_canonical=True)
    plan = layout.plans[1 + list(layout.written_items()).index(item)]
    found = list(nodes(plan.root))
    return len(found) - 1 + sum(len(entry.chain) for node in found if not node.children for entry in node.entries)


def later(store: Store, rows: list[StreamItem], count: int | None = None) -> list[StreamItem]:
    """The items of a store whose first tree comes later, and then has `rows`."""
    head, schema, *rest, end = items(store)
    after = next(place for place, item in enumerate(rest) if place and item[0] == TABLE)
    pages = kept(store, store.items[0]) if count is None else count
    return [head, schema, [LATER, pages], *rest[after:], [TABLE], *rows, end]


def vector(name: str, about: str, store: Store, *segments: list[StreamItem]) -> Vector:
    whole = joined(written(store))
    details = [("size", str(len(whole))), ("sha256", hashlib.sha256(whole).hexdigest())]
    return Vector(f"full_text_{name}", about, "columns 1", "rows", None, details, [("segment", segment(each)) for each in segments])


def bad(name: str, about: str, store: Store, *segments: list[StreamItem]) -> Vector:
    details = [("size", str(len(joined(written(store)))))]
    return Vector(f"full_text_{name}", about, "columns 1", "rows", "damaged", details, [("segment", segment(each)) for each in segments])


MADE = leaves(WORDS, 40)
BYTES = [leaf.bytes() for leaf in MADE]
SIZES = [leaf.size for leaf in MADE]
OWN = Store([data(BYTES), texts()])
AFTER = Store([texts(), data(BYTES)])
INDEXED = begin(shape(CONTENT_LAST), SIZES)


MANY: Rows = [(key, [f"word{key:03} " * 3]) for key in range(1, 61)]
LARGE = leaves([Posting(b"0word%03d" % key, key, [(0, 0), (0, 1), (0, 2)]) for key in range(1, 61)], 300)
OF_PAGES = begin(shape(CONTENT_LAST, last=60, columns=[1]), [leaf.size for leaf in LARGE])


def pages_of(auto_vacuum: bool = False) -> Store:
    """A store whose leaves take several pages."""
    return Store([data([leaf.bytes() for leaf in LARGE]), table("f_content", "a", MANY)], auto_vacuum=auto_vacuum)


def vectors() -> Iterator[Vector]:
    yield from good()
    yield from refused()
    yield from refused_trees()


def good() -> Iterator[Vector]:
    yield vector("own", "Leaves that follow from a table behind them", OWN, later(OWN, [INDEXED]))
    head, schema, tag, rows, *_, end = items(AFTER)
    yield vector("after", "Leaves that follow from a table before them", AFTER, [head, schema, tag, rows, [TABLE], begin(shape(CONTENT_FIRST), SIZES), end])
    around = Store([data(BYTES, [(1, [None, b"\0"])], [(1 << 38, [None, b"\0\0"])]), texts()])
    first, last = ([group([(rowid, b"\x03\x00" + bytes([12 + 2 * size]) + bytes(size))])] for rowid, size in ((1, 1), (1 << 38, 2)))
    yield vector("around", "Rows before them and after them", around, later(around, [*first, INDEXED, *last]))
    yield vector("apart", "Leaves in items of their own, in segments of their own", OWN, *([each] for each in later(OWN, singles())))
    odd = [BYTES[0], b"other", *BYTES[2:]]
    broken = Store([data(odd), texts()])
    other = group([(FIRST + 1, b"\x03\x00\x16other")])
    rows_of_odd = [begin(shape(CONTENT_LAST), SIZES[:1]), other, go_on(SIZES[2:], FIRST + 2, *passing(0, 2))]
    yield vector("passed", "A leaf that does not follow", broken, later(broken, rows_of_odd))
    whole = leaves(WORDS, 400)
    one = Store([data([each.bytes() for each in whole]), texts()], auto_vacuum=True)
    yield vector("one_leaf", "One leaf, without pages beside the root, and pointer maps", one, later(one, [begin(shape(CONTENT_LAST), [whole[0].size])]))
    some = [posting for posting in WORDS if 2 <= posting.rowid <= 5]
    part_of = leaves(some, 30)
    rows_2_5 = Store([data([each.bytes() for each in part_of]), texts()])
    yield vector("rowids", "An index of some rows", rows_2_5, later(rows_2_5, [begin(shape(CONTENT_LAST, 2, 8), [each.size for each in part_of])]))
    second = [Posting(each.term, each.rowid, [place for place in each.places if place[0] == 1]) for each in WORDS]
    of_second = leaves([each for each in second if each.places], 30)
    column = Store([data([each.bytes() for each in of_second]), texts()])
    yield vector("columns", "A column without words, and one that no row has", column, later(column, [begin(shape(CONTENT_LAST, columns=[0, 2, 32_767]), [each.size for each in of_second])]))
    yield from of_characters()
    deep = pages_of(auto_vacuum=True)
    yield vector("pages", "Several pages for leaves, and pointer maps", deep, later(deep, [OF_PAGES]))
    two = Store([data(BYTES), table("x", "a", [(1, [None, BYTES[0]])]), texts()])
    found = items(two)
    both = [*found[:2], [LATER, kept(two, two.items[0])], [LATER, 0], *found[6:-1], [TABLE], begin(shape(3), SIZES), [TABLE], begin(shape(3), SIZES[:1], rowid=1), found[-1]]
    yield vector("two_later", "Two trees that come later, in their order", two, both)
    twice = Store([data(BYTES, after=[(FIRST + 100 + place, [None, each]) for place, each in enumerate(BYTES)]), texts()])
    yield vector("two_indexes", "Two indexes in one tree", twice, later(twice, [INDEXED, begin(shape(CONTENT_LAST), SIZES, FIRST + 100)]))


def passing(last: int, leaf: int) -> tuple[int, int]:
    """Postings between the end of a leaf and the beginning of another one, and which part of the next is before that."""
    place, part = MADE[leaf].begins
    return place - MADE[last + 1].begins[0], part


def singles() -> list[StreamItem]:
    first = begin(shape(CONTENT_LAST), SIZES[:1])
    return [first, *(go_on([size], FIRST + place, *passing(place - 1, place)) for place, size in enumerate(SIZES) if place)]


def of_characters() -> Iterator[Vector]:
    rows: Rows = [(1, ["Éclair na\u00efve \u65e5\u672c", "e\u0301t a-b C3-PO", None]), (2, [RawText(b"a\xffb\xc3 \xe2\x82b\xed\xa0\x80c"), "\U0001f9c2x\u2019s", None])]
    plain = [
        ("\u00c9clair", 1, (0, 0)), ("na\u00efve", 1, (0, 1)), ("\u65e5\u672c", 1, (0, 2)), ("e\u0301t", 1, (1, 0)), ("a", 1, (1, 1)), ("b", 1, (1, 2)),
        ("c3", 1, (1, 3)), ("po", 1, (1, 4)), ("\U0001f9c2x\u2019s", 2, (1, 0)),
    ]  # fmt: skip
    broken = [("a", 2, (0, 0)), ("b", 2, (0, 1)), ("b", 2, (0, 2)), ("c", 2, (0, 3))]
    yield characters("plain", "Characters above 127 stand for themselves, bytes that are no character for none", rows, [*plain, *broken], [])
    folds = {"-": "-", "\u00c9": "e", "\u00ef": "i", "\u0301": "", "\u2019": None, "\U0001f9c2": None}
    folded = [
        ("eclair", 1, (0, 0)), ("naive", 1, (0, 1)), ("\u65e5\u672c", 1, (0, 2)), ("et", 1, (1, 0)), ("a-b", 1, (1, 1)), ("c3-po", 1, (1, 2)),
        ("x", 2, (1, 0)), ("s", 2, (1, 1)),
    ]  # fmt: skip
    yield characters("folds", "Characters that others stand for, or none, or that are no part of a word", rows, [*folded, *broken], pairs(folds))
    parts = [("eclair", "ec", 1, (0, 0)), ("naive", "na", 1, (0, 1)), ("\u65e5\u672c", "\u65e5\u672c", 1, (0, 2)), ("et", "et", 1, (1, 0)), ("a-b", "a-", 1, (1, 1)), ("c3-po", "c3", 1, (1, 2))]
    short = [Posting(b"1" + two.encode(), rowid, [place]) for _, two, rowid, place in parts]
    long = [Posting(b"2c3-p", 1, [(1, 2)]), Posting(b"2ecla", 1, [(0, 0)]), Posting(b"2naiv", 1, [(0, 1)])]
    yield characters("prefixes", "Two lengths of prefixes, by characters", rows, [*folded, *broken], pairs(folds), [*short, *long], [2, 4])


def pairs(folds: dict[str, str | None]) -> list[int]:
    found, last = [], -1
    for character in sorted(folds):
        fold = folds[character]
        found += [ord(character) - last - 1, 0 if fold is None else ord(fold) + 2 if fold else 1]
        last = ord(character)
    return found


def characters(name: str, about: str, rows: Rows, words: list[tuple[str, int, tuple[int, int]]], folds: list[int], more: list[Posting] | None = None, prefixes: list[int] | None = None) -> Vector:
    places: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for word, rowid, place in words:
        places.setdefault((word, rowid), []).append(place)
    made = leaves([*(Posting(b"0" + word.encode(), rowid, each) for (word, rowid), each in places.items()), *(more or [])], 50)
    store = Store([data([leaf.bytes() for leaf in made]), texts(rows)])
    return vector(name, about, store, later(store, [begin(shape(CONTENT_LAST, prefixes=prefixes, folds=folds), [leaf.size for leaf in made])]))


def refused() -> Iterator[Vector]:
    def one(name: str, about: str, *rows: StreamItem, store: Store = OWN) -> Vector:
        return bad(name, about, store, later(store, list(rows)))

    def of(**changed: object) -> StreamItem:
        return begin(shape(**{"content": CONTENT_LAST, **changed}), SIZES)  # type: ignore[arg-type]

    yield one("other_kind", "Leaves that neither begin nor go on", [LEAVES, 2, *INDEXED[2:]])
    yield one("go_on_with_none", "Leaves that go on with no index", go_on(SIZES, FIRST))
    yield one("content_0", "The content is no tree", of(content=0))
    yield one("content_3", "The content is a tree that there is not", of(content=3))
    yield one("content_itself", "The content is the leaves' own tree", of(content=CONTENT_FIRST))
    yield one("no_rowids", "The last rowid is before the first", of(first=5, last=4))
    yield one("columns_32768", "More columns than there can be", [LEAVES, 1, CONTENT_LAST, 2, 18, 32_768])
    yield one("column_32768", "A value that no record has", of(columns=[32_768]))
    yield one("column_twice", "A value for two columns", of(columns=[1, 2, 1]))
    yield one("prefixes_32", "More prefixes than there can be", of(prefixes=[2] * 32))
    yield one("prefix_0", "A prefix of no characters", of(prefixes=[0]))
    yield one("prefix_262145", "A prefix of more characters than a row has bytes", of(prefixes=[262_145]))
    yield one("characters_65537", "More characters than there can be", [LEAVES, 1, *shape(CONTENT_LAST)[:-1], 65_537])
    yield one("character_surrogate", "A surrogate", of(folds=[0xD800, 0]))
    yield one("character_beyond", "A character beyond U+10FFFF", of(folds=[0x11_0000, 0]))
    yield one("characters_beyond", "Characters that add up to one beyond U+10FFFF", of(folds=[0x10_FFFF, 0, 0, 0]))
    yield one("fold_surrogate", "A surrogate stands for a character", of(folds=[200, 0xD802]))
    yield one("fold_beyond", "A character beyond U+10FFFF stands for another", of(folds=[200, 0x11_0002]))
    yield one("passed_too_many", "More postings to pass than there are", begin(shape(CONTENT_LAST), SIZES[:1], passed=99))
    yield one("passed_2_31", "2^31 postings to pass", begin(shape(CONTENT_LAST), SIZES[:1], passed=2**31))
    yield one("part_beyond", "A part behind the positions", begin(shape(CONTENT_LAST), SIZES[:1], part=100))
    yield one("part_32769", "A part behind all positions that can be", begin(shape(CONTENT_LAST), SIZES[:1], part=32_769))
    yield one("size_3", "A leaf without a head", begin(shape(CONTENT_LAST), [3]))
    yield one("size_65536", "A leaf that is too large for its head", begin(shape(CONTENT_LAST), [65_536]))
    yield one("size_in_term", "A leaf that ends within a term", begin(shape(CONTENT_LAST), [6]))
    yield one("size_beyond", "A leaf that goes on after the last posting", begin(shape(CONTENT_LAST), [*SIZES[:-1], 4000]))
    yield one("leaf_more", "A leaf after the last posting", begin(shape(CONTENT_LAST), [*SIZES, 5]))
    yield one("leaves_1048577", "More leaves than an item has", [LEAVES, 1, *shape(CONTENT_LAST), zigzag(FIRST), 0, 0, 1_048_577, *SIZES])
    yield one("rowids_fall", "A leaf before the row before it", begin(shape(CONTENT_LAST), SIZES[:1]), go_on(SIZES[1:], FIRST))
    long: Rows = [(1, [" ".join(["w"] * 33_000)])]
    too_long = Store([data([b""]), table("f_content", "a", long)])
    yield one("long_posting", "A posting that is too long", begin(shape(CONTENT_LAST, columns=[1]), [100]), store=too_long)
    utf_16 = Store([data(BYTES), texts(TEXTS[1:2])], encoding="utf-16-le")
    yield one("utf_16", "Leaves in a store in UTF-16", INDEXED, store=utf_16)


def refused_trees() -> Iterator[Vector]:
    large = pages_of()
    pages = kept(large, large.items[0])
    yield bad("pages_fewer", "A tree that needs more pages than it was given", large, later(large, [OF_PAGES], pages - 1))
    yield bad("pages_more", "A tree that leaves a page", large, later(large, [OF_PAGES], pages + 1))
    yield bad("pages_2_32", "More pages for a tree than there can be", OWN, later(OWN, [INDEXED], 2**32))
    head, schema, put_off, tag, rows, _, *rest = later(OWN, [INDEXED])
    yield bad("never", "A tree that never comes", OWN, [head, schema, put_off, tag, rows, rest[-1]])
    yield bad("again", "A tree that comes later, put off once more", OWN, [head, schema, put_off, tag, rows, put_off, rest[-1]])
    yield bad("one_more", "A tree after the last", OWN, [head, schema, put_off, tag, rows, [TABLE], *rest[:-1], [TABLE], rest[-1]])
    yield bad("rows_at_once", "Rows of a tree that comes later, at once", OWN, [head, schema, put_off, rows, tag, rows, [TABLE], *rest])
    indexed = Store([data(BYTES), index("i", "f_data", "id", []), texts()])
    found = items(indexed)
    yield bad("with_index", "A table with an index comes later", indexed, [*found[:2], [LATER, kept(indexed, indexed.items[0])], *found[4:-1], [TABLE], begin(shape(3), SIZES), found[-1]])
    entries = Store([texts(), keyed([["x"]])])
    first, second, *more = items(entries)
    yield bad("of_entries", "Leaves in a table WITHOUT ROWID", entries, [first, second, *more[:3], begin(shape(CONTENT_FIRST), SIZES), more[-1]])
    of_keyed = Store([data(BYTES), keyed([["x"]])])
    yield bad("content_keyed", "The content is a table WITHOUT ROWID", of_keyed, [*items(of_keyed)[:2], put_off, *items(of_keyed)[4:6], [TABLE], INDEXED, [END]])
    two = Store([data(BYTES), data(BYTES), texts()])
    two.items[1].name = "g_data"
    each = items(two)
    both = [*each[:2], put_off, put_off, *each[6:-1], [TABLE], begin(shape(2), SIZES), [TABLE], begin(shape(3), SIZES), [END]]
    yield bad("content_later", "The content comes later itself", two, both)
    yield bad("content_after", "The content's rows have not come", OWN, [*items(OWN)[:3], begin(shape(CONTENT_LAST), SIZES), *items(OWN)[4:]])
    whole = joined(written(large))
    stream = later(large, [OF_PAGES])
    run = Run(4, 100, 40)
    segments = [segment(stream[:-3]), referring(stream[-3:], [run], bytes_of(whole, [run]))]
    yield Vector("full_text_run", "A run of a page that was given to a tree that comes later", "columns 2", "rows", "damaged", [("size", str(len(whole)))], [("segment", each) for each in segments])
