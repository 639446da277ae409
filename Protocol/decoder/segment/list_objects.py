"""Objects of a binary property list, and the list that they make (`LISTS.md` sections 1 and 6)."""

from __future__ import annotations

from dataclasses import dataclass, field

from decoder.segment.limits import LIST, damaged

MARKER = b"bplist00"
DATA, ASCII, UTF_16, UID, ARRAY, DICTIONARY = 4, 5, 6, 8, 10, 13


@dataclass(eq=False)
class Leaf:
    """An object without references: all its bytes in the list."""

    content: bytes
    may_be_anew: bool = False
    """UIDs, null, false and true may stand there once for each reference."""


@dataclass(eq=False)
class Array:
    elements: list[Object] = field(default_factory=list)


@dataclass(eq=False)
class Dictionary:
    keys: list[Leaf]
    values: list[Object]


Object = Leaf | Array | Dictionary


def head(kind: int, count: int) -> bytes:
    if count < 15:
        return bytes([kind << 4 | count])
    log = 0 if count < 2**8 else 1 if count < 2**16 else 2
    return bytes([kind << 4 | 15, 0x10 | log]) + count.to_bytes(1 << log, "big")


def integer(value: int) -> Leaf:
    if 0 <= value < 2**32:
        log = 0 if value < 2**8 else 1 if value < 2**16 else 2
        return Leaf(bytes([0x10 | log]) + value.to_bytes(1 << log, "big"))
    return Leaf(b"\x13" + value.to_bytes(8, "big", signed=True))


def uid(number: int) -> Leaf:
    size = 1 if number < 2**8 else 2 if number < 2**16 else 4
    return Leaf(bytes([UID << 4 | size - 1]) + number.to_bytes(size, "big"), True)


def text(kind: int, content: bytes) -> Leaf:
    """Data too."""
    if kind == ASCII and not content.isascii():
        raise damaged("a text in ASCII with other bytes")
    if kind == UTF_16 and len(content) % 2:
        raise damaged("a text in UTF-16 with half a unit")
    return Leaf(head(kind, len(content) // 2 if kind == UTF_16 else len(content)) + content)


def numbered(top: Object, is_each_anew: bool) -> tuple[list[Object], dict[int, int]]:
    """The objects in their order, and the number to which references to each go, by `id`."""
    objects: list[Object] = []
    numbers: dict[int, int] = {}
    left = [top]
    while left:
        found = left.pop()
        is_new = id(found) not in numbers
        if is_new:
            numbers[id(found)] = len(objects)
        if is_new or (is_each_anew and isinstance(found, Leaf) and found.may_be_anew):
            objects.append(found)
        if is_new and isinstance(found, Array):
            left += reversed(found.elements)
        elif is_new and isinstance(found, Dictionary):
            left += reversed([*found.keys, *found.values])
    return objects, numbers


def width(most: int) -> int:
    return 1 if most < 2**8 else 2 if most < 2**16 else 4


def written(top: Object, is_each_anew: bool) -> bytes:
    """The list."""
    objects, numbers = numbered(top, is_each_anew)
    size = width(len(objects))
    found, offsets = bytearray(MARKER), []
    for each in objects:
        offsets.append(len(found))
        match each:
            case Leaf():
                found += each.content
            case Array():
                found += head(ARRAY, len(each.elements)) + references(each.elements, numbers, size)
            case Dictionary():
                both = [*each.keys, *each.values]
                found += head(DICTIONARY, len(each.keys)) + references(both, numbers, size)
        if len(found) > LIST:
            raise damaged("a property list that is too long")
    table = len(found)
    found += b"".join(offset.to_bytes(width(table), "big") for offset in offsets)
    found += bytes(6) + bytes([width(table), size])
    found += len(objects).to_bytes(8, "big") + bytes(8) + table.to_bytes(8, "big")
    if len(found) > LIST:
        raise damaged("a property list that is too long")
    return bytes(found)


def references(objects: list[Object], numbers: dict[int, int], size: int) -> bytes:
    return b"".join(numbers[id(each)].to_bytes(size, "big") for each in objects)
