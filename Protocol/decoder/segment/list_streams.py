"""What follows the tag of lists that were taken apart (`LISTS.md` section 3): streams, sorted by context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from decoder.segment.limits import COLUMNS, damaged
from decoder.segment.list_codes import TAKES, Takes
from decoder.store.records import Real

if TYPE_CHECKING:
    from decoder.segment.strings import Deeper

MOST_NAMES = 65_536
MOST_SHAPES = 65_536
MOST_KEYS = 1_048_576
MOST_CONTEXTS = 1_048_576
MOST_CODES = 2_097_152


class Shape:
    def __init__(self, keys: list[int], order: list[int]) -> None:
        if sorted(order) != list(range(len(keys))) or len(set(keys)) != len(keys):
            raise damaged("a shape that has a column twice")
        self.keys, self.order = keys, order


class Streams:
    def __init__(self, source: Deeper, archives: int) -> None:
        """Reads points 3 to 8."""
        self._tables = iter(not_negative(source.integers(archives)))
        self.names = source.strings(at_most(source.varint(), MOST_NAMES))
        if not all(name.isascii() for name in self.names):
            raise damaged("the name of a key that is not ASCII")
        self.shapes = shapes(source, len(self.names))
        counts = source.integers(at_most(source.varint(), MOST_CONTEXTS))
        if any(count < 1 for count in counts):
            raise damaged("a context without codes")
        self.code_count = at_most(sum(counts), MOST_CODES)
        codes = source.integers(self.code_count)
        ends = [0, *accumulate(counts)]
        self._codes = [codes[start:end] for start, end in zip(ends, ends[1:])]
        if not all(code in TAKES for code in set(codes)):
            raise damaged("a code that there is not")
        self._taken = [0] * len(counts)
        self._left = self.code_count
        self._values: dict[Takes, list[Iterator[int] | Iterator[Real] | Iterator[bytes]]] = {}
        taken = [Counter(map(TAKES.__getitem__, own)) for own in self._codes]
        for takes in Takes:
            if takes == Takes.NOTHING:
                continue
            shares = [count[takes] for count in taken]
            found = values(source, takes, sum(shares))
            ends = [0, *accumulate(shares)]
            self._values[takes] = [iter(found[start:end]) for start, end in zip(ends, ends[1:])]

    def table_size(self) -> int:
        """Of the next archive."""
        return at_most(next(self._tables), self.code_count)

    def code(self, context: int) -> int:
        if context >= len(self._codes) or self._taken[context] == len(self._codes[context]):
            raise damaged("codes that are missing")
        self._taken[context] += 1
        self._left -= 1
        return self._codes[context][self._taken[context] - 1]

    def integer(self, takes: Takes, context: int) -> int:
        found = next(self._values[takes][context])
        if not isinstance(found, int):
            raise TypeError("a stream of another type")
        return found

    def content(self, takes: Takes, context: int) -> bytes:
        found = next(self._values[takes][context])
        if not isinstance(found, bytes):
            raise TypeError("a stream of another type")
        return found

    def check_end(self) -> None:
        if self._left:
            raise damaged("codes that are left over")


def values(source: Deeper, takes: Takes, count: int) -> list[int] | list[Real] | list[bytes]:
    if takes == Takes.REAL:
        return source.reals(count)
    return source.integers(count) if takes < Takes.REAL else source.strings(count)


def shapes(source: Deeper, names: int) -> list[Shape]:
    sizes = not_negative(source.integers(at_most(source.varint(), MOST_SHAPES)))
    if any(size > COLUMNS for size in sizes):
        raise damaged("a shape of too many columns")
    total = at_most(sum(sizes), MOST_KEYS)
    keys, steps = source.integers(total), source.integers(total)
    if any(not 0 <= key < names for key in keys):
        raise damaged("a key without a name")
    found: list[Shape] = []
    at = 0
    for size in sizes:
        order = [step + place for place, step in enumerate(steps[at : at + size])]
        found.append(Shape(keys[at : at + size], order))
        at += size
    return found


def not_negative(numbers: list[int]) -> list[int]:
    if any(number < 0 for number in numbers):
        raise damaged("less than nothing")
    return numbers


def at_most(number: int, most: int) -> int:
    if number > most:
        raise damaged("a count that is too high")
    return number
