"""Strings that hold arrays of numbers (`COLUMNS.md` section 2, tag 13)."""

from __future__ import annotations

import struct
from typing import Protocol

from decoder.segment.limits import ARRAYS, ELEMENTS, STRING_BYTES, damaged
from decoder.store.records import Real

BIG_ENDIAN, WIDTHS, REAL_WIDTH, MOST_FIELDS = 0x80, (2, 4, 8), 8, 16


class Inner(Protocol):
    def byte(self) -> int: ...
    def varint(self) -> int: ...
    def integers(self, count: int) -> list[int]: ...
    def reals(self, count: int) -> list[Real]: ...
    def strings(self, count: int) -> list[bytes]: ...
    def puts_together(self, size: int) -> None: ...


def arrays(inner: Inner, count: int) -> list[bytes]:
    first, fields = inner.byte(), inner.byte()
    width, order = first & ~BIG_ENDIAN, "big" if first & BIG_ENDIAN else "little"
    if width not in WIDTHS or not 1 <= fields <= MOST_FIELDS:
        raise damaged("an element that cannot be")
    size = width * fields
    numbers = inner.integers(count)
    array_count = total(numbers, ARRAYS)
    gaps, counts = inner.integers(array_count), inner.integers(array_count)
    rests = inner.strings(count)
    element_count = total(counts, min(ELEMENTS, STRING_BYTES // size))
    inner.puts_together(element_count * size + sum(map(len, rests)))
    whole = b"".join(elements(inner, element_count, width, fields, order))
    found: list[bytes] = []
    each = iter(zip(gaps, counts))
    for number, rest in zip(numbers, rests):
        string = b""
        for _ in range(number):
            gap, length = next(each)
            if not 0 <= gap <= len(rest):
                raise damaged("an array beyond the end of a string")
            string += rest[:gap] + whole[: length * size]
            rest, whole = rest[gap:], whole[length * size :]
        found.append(string + rest)
    return found


def total(numbers: list[int], most: int) -> int:
    if any(number < 0 for number in numbers) or sum(numbers) > most:
        raise damaged("arrays of a size that cannot be")
    return sum(numbers)


def elements(inner: Inner, count: int, width: int, fields: int, order: str) -> list[bytes]:
    match_count = inner.varint()
    if match_count > min(count, ARRAYS):
        raise damaged("more matches than elements, or than there may be")
    runs, lengths, sources = (inner.integers(match_count) for _ in range(3))
    literal_count = count - total([length + 1 for length in lengths], count)
    if any(length < 0 for length in lengths):
        raise damaged("a match of nothing")
    columns = [column(inner, literal_count, width, order) for _ in range(fields)]
    literals = [b"".join(each) for each in zip(*columns)]
    found: list[bytes] = []
    for run, length, source in zip(runs, lengths, sources):
        if not 0 <= run <= len(literals):
            raise damaged("more literals than there are")
        found += literals[:run]
        literals = literals[run:]
        at = len(found) - source // 2 - 1
        step = -1 if source % 2 else 1
        if source < 0 or at < 0 or (step < 0 and at < length):
            raise damaged("a match of what is not there")
        for place in range(length + 1):
            found.append(found[at + step * place])
    return found + literals


def column(inner: Inner, count: int, width: int, order: str) -> list[bytes]:
    if width == REAL_WIDTH:
        return [bytes(real) if order == "big" else real[::-1] for real in inner.reals(count)]
    numbers = inner.integers(count)
    if any(not -(1 << 8 * width - 1) <= number < 1 << 8 * width - 1 for number in numbers):
        raise damaged("a number that is too large")
    return [struct.pack(">q", number)[8 - width :][:: 1 if order == "big" else -1] for number in numbers]
