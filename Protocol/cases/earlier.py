"""Segments that refer to pages which earlier segments have filled (`COLUMNS.md` 2, "Runs")."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from cases.canonical import index, keyed, table
from cases.segment_vector import bad as bad_segment
from cases.store_rows import part, segment
from encoder import segment as s
from encoder.piece import Pieces, joined
from encoder.segment import Match, Run
from encoder.store_pages import Rows, Store, written
from encoder.store_stream import CHUNK, ROWID, Group, column, items
from encoder.store_stream import Item as StreamItem
from encoder.vector import Vector

PAGE = 512
OVERFLOW = PAGE - 4


def shown(name: str, length: int = 300) -> bytes:
    """Bytes that are in no other value."""
    return b"".join(hashlib.sha256(f"{name}{place}".encode()).digest() for place in range(length // 32 + 1))[:length]


def referring(found: list[StreamItem], runs: list[Run], history: bytes, form: int = 2, count: int | None = None) -> Pieces:
    """One match for each value of `found` that `history`, the bytes of all runs, has; all else is literals."""
    content = s.parts(*(part(put) for item in found for put in item))
    areas = s.Areas()
    content(areas)
    text = joined(areas.text)
    matches, literals, at = [], b"", 0
    while at < len(text):
        length = next((size for size in (2048, 1000, 600, 300, 200, 100, 40) if text[at : at + size] in history and at + size <= len(text)), 0)
        if not length:
            literals += text[at : at + 1]
            at += 1
            continue
        before = at - sum(match.literals + match.length for match in matches)
        matches.append(Match(before, length, at + len(history) - history.index(text[at : at + length])))
        at += length
    left = s.coded(literals, b"\xff", 0, [], []) if form & 4 else literals
    whole = s.page_runs(runs, count) + s.content(content, matches, left, has_runs=True)
    return s.deflated(whole, form=form) if form & 1 else s.stored(whole, form)


def bytes_of(store: bytes, runs: list[Run], page_size: int = PAGE) -> bytes:
    found = b""
    for run in runs:
        page, offset, left = run.page, run.offset, run.length
        while left:
            size = min(left, page_size - offset)
            found += store[(page - 1) * page_size + offset :][:size]
            left, page, offset = left - size, page + 1, 4 if run.is_chain else 0
    return found


def place(store: bytes, value: bytes, is_chain: bool = False, page_size: int = PAGE) -> Run:
    """Where a value stands first behind the roots of two trees; only its first 40 bytes need stand together."""
    at = store.index(value[:40], 3 * page_size)
    return Run(at // page_size + 1, at % page_size, len(value), is_chain)


def vector(name: str, about: str, store: Store, split: int, runs: list[Run], **how: int) -> Vector:
    """The items from `split` on are in a segment of their own, which refers to `runs`."""
    data, found = joined(written(store)), items(store)
    segments = [segment(found[:split]), referring(found[split:], runs, bytes_of(data, runs), **how)]
    details = [("size", str(len(data))), ("sha256", hashlib.sha256(data).hexdigest())]
    return Vector(f"earlier_{name}", about, "columns 2", "rows", None, details, [("segment", each) for each in segments])


def bad(name: str, about: str, store: Store, split: int, runs: list[Run], count: int | None = None, form: int = 2) -> Vector:
    data, found = joined(written(store)), items(store)
    first = s.deflated(s.content(s.parts(*(part(put) for item in found[:split] for put in item)))) if form == 3 else segment(found[:split])
    segments = [first, referring(found[split:], runs, b"", form, count)]
    details = [("size", str(len(data)))]
    return Vector(f"earlier_{name}", about, "columns 2", "rows", "damaged", details, [("segment", each) for each in segments])


def vectors() -> Iterator[Vector]:
    yield from good()
    yield from refused()


SMALL: Rows = [(key, [shown(f"small {key}")]) for key in range(1, 5)]
"""One row a leaf."""
TWICE = Store([table("t", "a", SMALL), table("u", "a", SMALL)])
DATA = joined(written(TWICE))
HEAD = 4
"""settings, rows of sqlite_schema, table, rows: up to the next table."""


def good() -> Iterator[Vector]:
    runs = [place(DATA, shown(f"small {key}")) for key in (1, 3)]
    yield vector("leaves", "Two values of leaves, in a table that repeats them", TWICE, HEAD, runs)
    yield vector("deflated", "The same, deflated", TWICE, HEAD, runs, form=3)
    yield vector("words", "The same, with words, of which there are none", TWICE, HEAD, runs, form=6)
    first = place(DATA, shown("small 1"))
    yield vector("pages", "A run of whole pages, with what they have beside values", TWICE, HEAD, [Run(first.page, 0, 3 * PAGE)])
    yield vector("backwards", "Runs from back to front, one of them twice", TWICE, HEAD, [*runs[::-1], runs[1]])
    long: Rows = [(1, [shown("long", 2048)]), (2, [b"x" * 400])]
    chain = Store([table("t", "a", long), table("u", "a", [(1, [b"other" + shown("long", 2048)])])])
    data = joined(written(chain))
    begin = data.index(shown("long", 2048)[-40:]) // PAGE + 1
    yield vector("chain", "Over the pages of an overflow chain", chain, HEAD, [Run(begin - 2, 100, 2 * OVERFLOW + 40, True)])
    same = Store([table("t", "a", [*SMALL, (9, [shown("small 2")])])])
    found = items(same)
    cut = [*found[:3], *(item for item in split(found[3], 4)), *found[4:]]
    yield in_parts("same_tree", "A leaf of the tree that has not ended", same, cut, 4, [place(joined(written(same)), shown("small 2"))])
    entries = Store([table("t", "a", SMALL), keyed([[value] for value in sorted(shown(f"small {key}", 90) for key in range(1, 5))])])
    yield vector("entries", "A table WITHOUT ROWID that has what another table has", entries, HEAD, [place(joined(written(entries)), shown("small 1", 90))])
    wide: Rows = [(1, [shown("wide", 2048)]), (2, [b"w" * 60_000]), (3, [shown("last", 2048)])]
    maps = Store([table("t", "a", wide), table("u", "a", [(1, [shown("last", 2048)])])], auto_vacuum=True)
    data = joined(written(maps))
    yield vector("deep", "Behind a pointer map page", maps, HEAD, [place(data, shown("last", 2048)[-600:-100], True)])


def split(item: StreamItem, count: int) -> list[StreamItem]:
    tag, group = item
    assert isinstance(group, Group) and group.rowids is not None
    return [[tag, Group(group.rowids[:count], group.records[:count])], [tag, Group(group.rowids[count:], group.records[count:])]]


def in_parts(name: str, about: str, store: Store, found: list[StreamItem], at: int, runs: list[Run]) -> Vector:
    data = joined(written(store))
    segments = [segment(found[:at]), referring(found[at:], runs, bytes_of(data, runs))]
    details = [("size", str(len(data))), ("sha256", hashlib.sha256(data).hexdigest())]
    return Vector(f"earlier_{name}", about, "columns 2", "rows", None, details, [("segment", each) for each in segments])


def refused() -> Iterator[Vector]:
    def one(name: str, about: str, *runs: Run, count: int | None = None, split: int = HEAD) -> Vector:
        return bad(name, about, TWICE, split, list(runs), count)

    leaf = place(DATA, shown("small 1"))
    last = place(DATA, shown("small 4"))
    own = Run(DATA.rindex(shown("small 1")) // PAGE + 1, 100, 40)
    yield one("no_runs", "A form with runs, without runs", count=0)
    yield one("fewer_runs", "More runs than there are", leaf, count=2)
    yield one("first_page", "A run of page 1", Run(1, 100, 40))
    yield one("page_0", "A run of page 0", Run(0, 100, 40))
    yield one("page_before_0", "A run of a page before page 0", Run(-1, 100, 40))
    yield one("page_2_32", "A run of page 2^32 and more", Run(2**32 + leaf.page, 100, 40))
    yield one("root", "A run of a root page", Run(2, 100, 40))
    yield one("own_page", "A run of a page that its own segment fills", own)
    yield one("open_leaf", "A run of the leaf that is being filled", last)
    yield one("into_open_leaf", "A run that ends in a page that is not there yet", Run(last.page - 1, 100, PAGE))
    yield one("beyond_end", "A run of a page beyond the end", Run(len(DATA) // PAGE + 1, 100, 40))
    yield one("offset_512", "A run from the end of a page", Run(leaf.page, PAGE, 40))
    yield one("offset_2_32", "A run from far beyond a page", Run(leaf.page, 2**32, 40))
    yield one("chain_offset_3", "A run of overflow pages that begins in the number of the next", Run(leaf.page, 3, 40, True))
    yield one("length_2_63", "A run of 2^63 bytes", Run(leaf.page, 100, 2**63))
    yield one("in_schema", "A run in the segment that ends sqlite_schema", leaf, split=2)
    many = [Run(leaf.page, 100, 1)] * 65_537
    yield one("runs_65537", "65,537 runs", *many)
    yield one("too_long", "Runs of 4,194,305 bytes", *[Run(leaf.page, 0, 3 * PAGE)] * 2730, Run(leaf.page, 0, 1025))
    broad: Rows = [(key, [b"w" * 36_000]) for key in range(1, 5)]
    large = Store([table("t", "a", broad), table("u", "a", [(1, ["x"])])], 65_536)
    first = place(joined(written(large)), b"w" * 36_000, page_size=65_536)
    yield bad("work", "Runs that take more work than anything pays for", large, HEAD, [Run(first.page, 65_530, 12)] * 65_000, form=3)
    maps = Store([table("t", "a", [(1, [b"w" * 60_000]), *SMALL[1:]]), table("u", "a", [(1, ["x"])])], auto_vacuum=True)
    yield bad("pointer_map", "A run of a pointer map page", maps, HEAD, [Run(105, 100, 40)])
    derived = index("i", "t", "a", [(None, [value, key]) for value, key in sorted((shown(f"small {key}"), key) for key in range(1, 5))])
    derived.derived = [column(0), ROWID]
    follows = Store([table("t", "a", SMALL), derived, table("u", "a", [(1, ["x"])])])
    whole = joined(written(follows))
    page = whole.rindex(shown("small 1")[-40:]) // PAGE + 1
    yield bad("derived", "A run of an index that is derived by the last item before", follows, HEAD + 1, [Run(page, 100, 40)])
    row = Store([table("t", "a", [*SMALL, (9, [b"l" * 300_000])])])
    found = items(row)
    assert found[5][0] == CHUNK
    chunk = found[5][1]
    assert isinstance(chunk, bytes)
    halves: list[StreamItem] = [*found[:5], [CHUNK, chunk[:150_000]], [CHUNK, chunk[150_000:]], *found[6:]]
    open_page = joined(written(row)).index(b"l" * 400) // PAGE + 2
    segments = [segment(halves[:6]), referring(halves[6:], [Run(open_page, 100, 40)], b"")]
    yield Vector("earlier_long_row", "A run of a long row that has not ended", "columns 2", "rows", "damaged", [("size", str(len(joined(written(row)))))], [("segment", each) for each in segments])
    bare = s.page_runs([Run(3, 100, 40)]) + s.content(s.chunk(b"dill"))
    yield bad_segment("runs_alone", "A segment with runs, and no pages", asks="chunk", segment=s.stored(bare, 3))
