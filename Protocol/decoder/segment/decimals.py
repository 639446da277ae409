"""Strings that hold decimal numbers (`COLUMNS.md` section 2, tag 15)."""

from __future__ import annotations

from decoder.segment.arrays import Inner
from decoder.segment.limits import DECIMAL_FIELDS, damaged

FIRST_MARK = 14


def decimals(inner: Inner, count: int) -> list[bytes]:
    field_count = inner.byte()
    if not 1 <= field_count <= DECIMAL_FIELDS:
        raise damaged("fields as many as there cannot be")
    spellings = [divmod(inner.byte(), 16) for _ in range(field_count)]
    rests = inner.strings(count)
    counts = [sum(rest.count(field) for rest in rests) for field in range(FIRST_MARK, FIRST_MARK + field_count)]
    inner.puts_together(sum(map(len, rests)) - sum(counts))
    numbers = [iter(inner.integers(each)) for each in counts]
    found: list[bytes] = []
    for rest in rests:
        string = bytearray()
        for byte in rest:
            field = byte - FIRST_MARK
            if 0 <= field < field_count:
                number = spelled(next(numbers[field]), *spellings[field])
                inner.puts_together(len(number))
                string += number
            else:
                string.append(byte)
        found.append(bytes(string))
    return found


def spelled(number: int, least: int, most: int) -> bytes:
    digits = str(abs(number)).zfill(max(most + 1, least))
    whole, fraction = digits[: len(digits) - most], digits[len(digits) - most :]
    fraction = fraction[:least] + fraction[least:].rstrip("0")
    return ("-" * (number < 0) + whole + "." * bool(fraction) + fraction).encode()
