"""Integers(n) and Reals(n)."""

from __future__ import annotations

import struct
from itertools import accumulate

from decoder.segment.area import unzigzagged, wrapped
from decoder.segment.limits import damaged
from decoder.segment.reading import Group, Reading, check_depth
from decoder.store.records import Real


def integers(reading: Reading, count: int, depth: int, group: Group | None = None) -> list[int]:
    """`group` where these are the values of a whole plain column that has only integers."""
    if count == 0:
        return []
    check_depth(depth)
    reading.begins(count)
    control = reading.control
    match control.byte():
        case 0:
            return [control.signed()] * count
        case 1:
            first, step = control.signed(), control.signed()
            return [wrapped(first + place * step) for place in range(count)]
        case 2:
            return signed_numbers(reading, count)
        case 3:
            return summed(signed_numbers(reading, count))
        case 4:
            width, base = checked_width(control.byte()), control.signed()
            return [wrapped(base + number) for number in planes(reading, count, width)]
        case 5:
            return summed([unzigzagged(number) for number in planes(reading, count, checked_width(control.byte()))])
        case 6:
            return runs(reading, count, depth)
        case 7:
            return packed(reading, count)
        case 8:
            size = at_most(control.varint(), count)
            values = integers(reading, size, depth + 1)
            return [values[index] for index in indexes(integers(reading, count, depth + 1), size)]
        case 9 if group:
            values = group.integers(control.varint())
            return [wrapped(value + number) for value, number in zip(values, integers(reading, count, depth + 1))]
        case 10 if group:
            return following(group.integers(control.varint()), integers(reading, count, depth + 1))
    raise damaged("an encoding of integers that there is not, or not here")


def at_most(number: int, most: int) -> int:
    if number > most:
        raise damaged("a count that is too high")
    return number


def indexes(found: list[int], size: int) -> list[int]:
    if any(not 0 <= index < size for index in found):
        raise damaged("an index of nothing")
    return found


def signed_numbers(reading: Reading, count: int) -> list[int]:
    area = reading.areas.numbers_for(count)
    return [area.signed() for _ in range(count)]


def summed(numbers: list[int]) -> list[int]:
    return [wrapped(value) for value in accumulate(numbers)]


def checked_width(width: int) -> int:
    if not 1 <= width <= 8:
        raise damaged("a number of planes that cannot be")
    return width


def planes(reading: Reading, count: int, width: int) -> list[int]:
    """Unsigned."""
    data = reading.areas.numbers_for(count).take(count * width)
    found = [0] * count
    for plane in range(width):
        found = [value << 8 | byte for value, byte in zip(found, data[plane * count : (plane + 1) * count])]
    return found


def runs(reading: Reading, count: int, depth: int) -> list[int]:
    size = at_most(reading.control.varint(), count)
    values, lengths = (integers(reading, size, depth + 1) for _ in range(2))
    if any(length < 0 for length in lengths) or sum(length + 1 for length in lengths) != count:
        raise damaged("runs of another length")
    return [value for value, length in zip(values, lengths) for _ in range(length + 1)]


def packed(reading: Reading, count: int) -> list[int]:
    bits, base = reading.control.byte(), reading.control.signed()
    if bits not in (1, 2, 4):
        raise damaged("packed integers of a size that cannot be")
    data = reading.areas.numbers_for(count).take((count * bits + 7) // 8)
    mask = (1 << bits) - 1
    return [wrapped(base + (data[place * bits // 8] >> place * bits % 8 & mask)) for place in range(count)]


def following(leaders: list[int], numbers: list[int]) -> list[int]:
    last: dict[int, int] = {}
    found: list[int] = []
    for leader, number in zip(leaders, numbers):
        last[leader] = wrapped(last.get(leader, 0) + number)
        found.append(last[leader])
    return found


def reals(reading: Reading, count: int, depth: int = 0) -> list[Real]:
    if count == 0:
        return []
    check_depth(depth)
    match reading.control.byte():
        case 0:
            return [pattern(number) for number in integers(reading, count, depth + 1)]
        case 1:
            return [
                pattern(number) for number in accumulate(integers(reading, count, depth + 1), lambda one, other: one ^ other)
            ]
        case 2:
            divisor = power(reading)
            return [decimal(number, divisor) for number in integers(reading, count, depth + 1)]
        case 3:
            data = reading.areas.numbers_for(count).take(8 * count)
            return [Real(data[at : at + 8]) for at in range(0, len(data), 8)]
        case 4:
            return mostly_decimal(reading, count, depth)
    raise damaged("an encoding of reals that there is not")


def mostly_decimal(reading: Reading, count: int, depth: int) -> list[Real]:
    divisor = power(reading)
    size = at_most(reading.control.varint(), count)
    gaps = integers(reading, size, depth + 1)
    decimals = [decimal(number, divisor) for number in integers(reading, count - size, depth + 1)]
    if any(gap < 0 for gap in gaps) or sum(gaps) > len(decimals):
        raise damaged("reals among decimals that there are not")
    found: list[Real] = []
    place = 0
    for gap, other in zip(gaps, reals(reading, size, depth + 1)):
        found += [*decimals[place : place + gap], other]
        place += gap
    return found + decimals[place:]


def power(reading: Reading) -> float:
    found = reading.control.byte()
    if found > 15:
        raise damaged("a power of ten that is too high")
    return float(10**found)


def decimal(number: int, divisor: float) -> Real:
    return Real(struct.pack(">d", float(number) / divisor))


def pattern(number: int) -> Real:
    return Real(struct.pack(">q", number))
