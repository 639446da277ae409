"""Items of leaves of full-text indexes, in a store stream and in a delta (`COLUMNS.md` 1.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from decoder.segment.limits import damaged
from decoder.segment.work import ROW, Work
from decoder.store.full_text import LONGEST_LEAF, Leaves, Shape, postings
from decoder.store.records import record
from decoder.store.tree_reader import Row

MOST_TREES = 65_536
MOST_PARTS = 32_767
MOST_PREFIXES = 31
LONGEST_PREFIX = 262_144
MOST_CHARACTERS = 65_536
MOST_LEAVES = 1_048_576
LONGEST_PART = 32_768


class LeafItems:
    """Those of one tree. `rows_of` gives the rows of a table by the place of its tree, if they have come."""

    def __init__(self, number: Callable[[], int], rows_of: Callable[[int], list[Row] | None], work: Work, schema_format: int) -> None:
        self._number, self._rows_of = number, rows_of
        self._work, self._schema_format = work, schema_format
        self._leaves: Leaves | None = None

    def rows(self) -> Iterator[Row]:
        """Of the next item."""
        if self._count(1) == 1:
            self._leaves = self._begin()
        leaves = self._leaves
        if leaves is None:
            raise damaged("leaves that go on with none")
        rowid = self._signed()
        leaves.move(self._count(2**31 - 1), self._count(LONGEST_PART))
        for _ in range(self._count(MOST_LEAVES)):
            size = self._count(LONGEST_LEAF)
            self._work.spend(ROW + size)
            yield rowid, record([None, leaves.leaf(size)], self._schema_format)
            rowid += 1

    def _begin(self) -> Leaves:
        rows = self._rows_of(self._count(MOST_TREES))
        if rows is None:
            raise damaged("leaves of no table, or of one whose rows have not come")
        first, last = self._signed(), self._signed()
        if first > last:
            raise damaged("leaves of no rows")
        columns = [self._count(MOST_PARTS) for _ in range(self._count(MOST_PARTS))]
        prefixes = [self._count(LONGEST_PREFIX) for _ in range(self._count(MOST_PREFIXES))]
        if 0 in prefixes:
            raise damaged("prefixes of no characters")
        named = [place for place in columns if place]
        if len(set(named)) != len(named):
            raise damaged("a value for two columns")
        places = [place - 1 if place else None for place in columns]
        return Leaves(postings(rows, Shape(first, last, places, prefixes, self._folds()), self._work))

    def _folds(self) -> dict[int, int]:
        code, folds = -1, {}
        for _ in range(self._count(MOST_CHARACTERS)):
            code += 1 + self._count(0x11_0000)
            fold = self._count(0x11_0001)
            if not is_scalar(code) or (fold >= 2 and not is_scalar(fold - 2)):
                raise damaged("a character that there is not")
            folds[code] = fold
        return folds

    def _count(self, most: int) -> int:
        number = self._number()
        if number > most:
            raise damaged("a number beyond its limit")
        return number

    def _signed(self) -> int:
        number = self._number()
        return number >> 1 if number % 2 == 0 else -(number >> 1) - 1


def is_scalar(code: int) -> bool:
    return code < 0xD800 or 0xE000 <= code < 0x11_0000
