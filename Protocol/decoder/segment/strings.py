"""Strings(n)."""

from __future__ import annotations

import uuid
from itertools import islice

from decoder.segment.arrays import arrays
from decoder.segment.blocks import Correction, blocks, check_counts, way_is_known
from decoder.segment.blocks import inside as blocks_inside
from decoder.segment.decimals import decimals
from decoder.segment.deflated import deflated, inside
from decoder.segment.digits import digits
from decoder.segment.integers import integers, reals
from decoder.segment.limits import GROUP, damaged
from decoder.segment.property_lists import property_lists
from decoder.segment.reading import Group, Reading, check_depth
from decoder.segment.utf16 import utf16
from decoder.store.records import Real


def strings(
    reading: Reading, count: int, depth: int, group: Group | None = None, is_only_kind: bool = False
) -> list[bytes]:
    """`group` where these belong to a plain column that is not within a dictionary."""
    if count == 0:
        return []
    check_depth(depth)
    reading.begins(count)
    control = reading.control
    match control.byte():
        case 0:
            return [reading.areas.text.take(length) for length in integers(reading, count, depth + 1)]
        case 1:
            return [reading.areas.text.up_to_zero() for _ in range(count)]
        case 2:
            return transposed(reading, count)
        case 3 | 4 as tag:
            return identifiers(reading, count, tag == 3)
        case 5 | 6 as tag:
            return hexadecimal(reading, strings(reading, count, depth + 2), tag == 5)
        case 7:
            kept = integers(reading, count, depth + 1)
            return front_coded(reading, kept, strings(reading, count, depth + 2))
        case 8:
            return repeated(reading, count, depth)
        case 9 if group and count == group.rows and (depth == 1 or (depth == 0 and is_only_kind)):
            held = group.texts(control.varint())
            places = integers(reading, count, depth + 1)
            return holding(reading, held, places, strings(reading, count, depth + 1, group))
        case 10:
            return property_lists(Deeper(reading, depth + 1), count)
        case 11:
            ways = integers(reading, count, depth + 1)
            contents = strings(reading, count, depth + 1, group)
            heads, tails = (strings(reading, inside(ways), depth + 1, group) for _ in range(2))
            return deflated(reading, ways, contents, heads, tails)
        case 12:
            return digits(Deeper(reading, depth + 1), count)
        case 13:
            return arrays(Deeper(reading, depth + 1), count)
        case 14:
            return compressed_blocks(reading, count, depth, group)
        case 15:
            return decimals(Deeper(reading, depth + 1), count)
        case 16:
            return utf16(Deeper(reading, depth + 1), count)
    raise damaged("an encoding of strings that there is not, or not here")


def compressed_blocks(reading: Reading, count: int, depth: int, group: Group | None) -> list[bytes]:
    ways = integers(reading, count, depth + 1)
    contents = strings(reading, count, depth + 1, group)
    sizes = [len(content) for way, content in zip(ways, contents) if way_is_known(way)]
    counts = integers(reading, len(sizes), depth + 1)
    check_counts(reading, counts, sizes)
    fields = [integers(reading, sum(counts), depth + 1) for _ in range(4)]
    corrections = iter([Correction(*each) for each in zip(*fields)])
    found = [list(islice(corrections, each)) for each in counts]
    heads, tails = (strings(reading, blocks_inside(ways), depth + 1, group) for _ in range(2))
    return blocks(reading, ways, contents, found, heads, tails)


def transposed(reading: Reading, count: int) -> list[bytes]:
    length = reading.control.varint()
    if length > GROUP:
        raise damaged("strings that are too long")
    data = reading.areas.numbers_for(count).take(count * length)
    reading.puts_together(count * length)
    return [data[place::count] for place in range(count)] if length else [b""] * count


def identifiers(reading: Reading, count: int, is_upper: bool) -> list[bytes]:
    data = reading.areas.numbers_for(count).take(16 * count)
    reading.puts_together(36 * count)
    found = [str(uuid.UUID(bytes=data[at : at + 16])).encode() for at in range(0, len(data), 16)]
    return [each.upper() for each in found] if is_upper else found


def hexadecimal(reading: Reading, found: list[bytes], is_upper: bool) -> list[bytes]:
    reading.puts_together(2 * sum(map(len, found)))
    digits = [each.hex().encode() for each in found]
    return [each.upper() for each in digits] if is_upper else digits


def front_coded(reading: Reading, kept: list[int], rests: list[bytes]) -> list[bytes]:
    found: list[bytes] = []
    before = b""
    for size, rest in zip(kept, rests):
        if not 0 <= size <= len(before):
            raise damaged("more of the string before than there is")
        reading.puts_together(size + len(rest))
        before = before[:size] + rest
        found.append(before)
    return found


def repeated(reading: Reading, count: int, depth: int) -> list[bytes]:
    value_count = reading.control.varint()
    if value_count > count:
        raise damaged("more strings in a dictionary than there are rows")
    values = strings(reading, value_count, depth + 1)
    found: list[bytes] = []
    for index in integers(reading, count, depth + 1):
        if not 0 <= index < value_count:
            raise damaged("a string that the dictionary does not have")
        reading.puts_together(len(values[index]))
        found.append(values[index])
    return found


def holding(reading: Reading, held: list[bytes], places: list[int], found: list[bytes]) -> list[bytes]:
    whole: list[bytes] = []
    for text, place, string in zip(held, places, found):
        if not 0 <= place <= len(string) + 1:
            raise damaged("a place beyond the end of a string")
        reading.puts_together(len(string) + (len(text) if place else 0))
        whole.append(string[: place - 1] + text + string[place - 1 :] if place else string)
    return whole


class Deeper:
    """What property lists, arrays, decimals and the like are made of, all at one depth; nothing there refers to columns."""

    def __init__(self, reading: Reading, depth: int) -> None:
        self._reading, self._depth = reading, depth
        self.puts_together = reading.puts_together

    def byte(self) -> int:
        return self._reading.control.byte()

    def varint(self) -> int:
        return self._reading.control.varint()

    def integers(self, count: int) -> list[int]:
        return integers(self._reading, count, self._depth)

    def reals(self, count: int) -> list[Real]:
        return reals(self._reading, count, self._depth)

    def strings(self, count: int) -> list[bytes]:
        return strings(self._reading, count, self._depth)
