"""Column(n): plain, or by the classes of values."""

from __future__ import annotations

import math
import struct

from decoder.segment.integers import at_most, indexes, integers, reals
from decoder.segment.limits import damaged
from decoder.segment.reading import Column, Group, Reading
from decoder.segment.strings import strings
from decoder.store.records import Real, Text, Value

NULL, INTEGER, REAL, TEXT, BLOB = range(5)
WHOLE_REALS, KINDS_OF_ANOTHER = 0x20, 0x40


def column(reading: Reading, count: int, group: Group, is_whole: bool) -> Column:
    reading.begins(count)
    tag = reading.control.byte()
    if tag < 0x80:
        return Column(plain(reading, tag, count, group, is_whole), is_whole)
    if not is_whole:
        raise damaged("classes in a column that is not whole")
    match tag:
        case 0x80:
            size = at_most(reading.control.varint(), count)
            values = values_of_classes(reading, size)
            classes = indexes(integers(reading, count, 1), size)
        case 0x81:
            leader = group.with_classes(reading.control.varint())
            size, classes = leader.class_count, leader.classes or []
            values = values_of_classes(reading, size)
        case 0x82:
            leader = group.with_classes(reading.control.varint())
            size = at_most(reading.control.varint(), count)
            values = values_of_classes(reading, size)
            classes = indexes(predicted(leader.classes or [], integers(reading, count, 1)), size)
        case 0x83:
            leader = group.with_classes(reading.control.varint())
            return Column(leader.values, True, leader.classes, leader.class_count)
        case _:
            raise damaged("an encoding of columns that there is not")
    return Column([values[each] for each in classes], True, classes, size)


def values_of_classes(reading: Reading, count: int) -> list[Value]:
    reading.begins(count)
    tag = reading.control.byte()
    if tag >= 0x80:
        raise damaged("classes within classes")
    return plain(reading, tag, count, None, False)


def predicted(leaders: list[int], codes: list[int]) -> list[int]:
    last: dict[int, int] = {}
    found: list[int] = []
    for leader, code in zip(leaders, codes):
        if code < 0 or (code == 0 and leader not in last):
            raise damaged("a class that nothing predicts")
        if code:
            last[leader] = code - 1
        found.append(last[leader])
    return found


def plain(reading: Reading, tag: int, count: int, group: Group | None, is_whole: bool) -> list[Value]:
    """`group` is None within a dictionary."""
    there = [kind for kind in range(5) if tag >> kind & 1]
    whole_group = group if is_whole else None
    if not there or (tag & WHOLE_REALS and INTEGER in there):
        raise damaged("kinds that cannot be")
    if len(there) == 1:
        if tag & KINDS_OF_ANOTHER:
            raise damaged("kinds of an earlier column, but only one")
        kinds = there * count
    elif tag & KINDS_OF_ANOTHER:
        if whole_group is None:
            raise damaged("kinds of an earlier column, but for other rows")
        kinds = whole_group.whole(reading.control.varint()).kinds()
    else:
        kinds = integers(reading, count, 1)
    if any(kind not in there for kind in set(kinds)):
        raise damaged("a kind that is not there")
    has_only_integers = there == [INTEGER]
    found: dict[int, list[Value]] = {NULL: [None] * kinds.count(NULL)}
    found[INTEGER] = [*integers(reading, kinds.count(INTEGER), 0, whole_group if has_only_integers else None)]
    found[REAL] = [*reals(reading, kinds.count(REAL))]
    if tag & WHOLE_REALS:
        found[REAL] = [as_integer(value) for value in found[REAL] if isinstance(value, Real)]
    found[TEXT] = [Text(each) for each in strings(reading, kinds.count(TEXT), 0, whole_group, len(there) == 1)]
    found[BLOB] = [*strings(reading, kinds.count(BLOB), 0, whole_group, len(there) == 1)]
    sources = {kind: iter(values) for kind, values in found.items()}
    return [next(sources[kind]) for kind in kinds]


def as_integer(value: Real) -> Value:
    number: float = struct.unpack(">d", value)[0]
    is_negative_zero = number == 0 and math.copysign(1, number) < 0
    if math.isfinite(number) and number.is_integer() and abs(number) < 2**47 and not is_negative_zero:
        return int(number)
    return value
