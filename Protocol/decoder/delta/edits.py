"""Edited rows (`DELTA.md` section 5)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from decoder.segment.columns import as_integer, column
from decoder.segment.area import wrapped
from decoder.segment.integers import indexes, integers, reals
from decoder.segment.limits import COLUMNS, damaged
from decoder.segment.reading import Group, Reading
from decoder.segment.strings import strings
from decoder.store.records import Real, Text, Value

WHOLE, DIFFERENCE, SUM, FROM_END, FROM_START = range(5)
MOST_SETS = 65_536
MOST_IN_SETS = 1_048_576
MOST_VALUES = 1_048_576


class Edits:
    def __init__(self, reading: Reading, count: int, changes_counts: bool) -> None:
        control = reading.control
        self._changes = iter(integers(reading, count, 0) if changes_counts else [0] * count)
        size = control.varint()
        if not 1 <= size <= min(count, MOST_SETS):
            raise damaged("no sets of columns, or too many")
        sets: list[list[int]] = []
        for _ in range(size):
            last, found = -1, []
            for _ in range(control.varint()):
                last += control.varint() + 1
                if last >= COLUMNS or sum(map(len, sets)) + len(found) > MOST_IN_SETS:
                    raise damaged("a column that no row has, or too many")
                found.append(last)
            sets.append(found)
        places = indexes(integers(reading, count, 0), size) if size > 1 else [0] * count
        self._sets = iter([sets[place] for place in places])
        rows = {each: 0 for found in sets for each in found}
        for place in places:
            for each in sets[place]:
                rows[each] += 1
        if sum(rows.values()) > MOST_VALUES:
            raise damaged("too many values")
        shared = Group(count, None)
        self._columns = {each: edited(reading, rows[each], count, shared) for each in sorted(rows)}

    def apply(self, old: list[Value]) -> list[Value]:
        """The next row."""
        size = len(old) + next(self._changes)
        if not 0 <= size <= COLUMNS:
            raise damaged("a number of columns that cannot be")
        new = (old + [None] * size)[:size]
        for each in next(self._sets):
            if each >= size:
                raise damaged("a column that the row has not")
            new[each] = next(self._columns[each])(old[each] if each < len(old) else None)
        return new


class Change:
    """What becomes of one value."""

    def __init__(self, way: int, *what: object) -> None:
        self.way, self.what = way, what

    def __call__(self, old: Value) -> Value:
        what = self.what
        match self.way:
            case 0:
                return what[0]  # type: ignore[return-value]
            case 1 if isinstance(old, int) and isinstance(what[0], int):
                return wrapped(old + what[0])
            case 2 if isinstance(old, int | Real) and isinstance(what[0], Real):
                number = float(old) if isinstance(old, int) else struct.unpack(">d", old)[0]
                total = number + struct.unpack(">d", what[0])[0]
                return as_integer(Real(struct.pack(">d", total)))
            case 3 | 4 if isinstance(old, bytes) and not isinstance(old, Real):
                kept, removed, put = what
                if not (isinstance(kept, int) and isinstance(removed, int) and isinstance(put, bytes)):
                    raise damaged("a splice of nothing")
                if kept < 0 or removed < 0 or kept + removed > len(old):
                    raise damaged("a splice beyond the end")
                at = kept if self.way == FROM_START else len(old) - kept - removed
                new = bytes(old[:at]) + put + bytes(old[at + removed :])
                return Text(new) if isinstance(old, Text) else new
        raise damaged("a change that does not suit the value")


def edited(reading: Reading, count: int, rows: int, shared: Group) -> Iterator[Change]:
    mask = reading.control.byte()
    there = [way for way in range(5) if mask >> way & 1]
    if not there or mask >= 32 or not count:
        raise damaged("ways that there are not")
    ways = there * count if len(there) == 1 else integers(reading, count, 0)
    if any(way not in there for way in ways):
        raise damaged("a way that is not there")
    found: dict[int, Iterator[Change]] = {}
    for way in there:
        number = ways.count(way)
        match way:
            case 0:
                group = shared if number == rows else Group(number, None)
                group.columns.append(column(reading, number, group, True))
                changes = [Change(way, value) for value in group.columns[-1].values]
            case 1:
                changes = [Change(way, each) for each in integers(reading, number, 0)]
            case 2:
                changes = [Change(way, each) for each in reals(reading, number)]
            case _:
                kept, removed = integers(reading, number, 0), integers(reading, number, 0)
                changes = [Change(way, *each) for each in zip(kept, removed, strings(reading, number, 0))]
        found[way] = iter(changes)
    return iter([next(found[way]) for way in ways])
