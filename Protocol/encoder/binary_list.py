"""Binary property lists as they stand: their objects, and which refers to which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from encoder import taken_lists as t

SCALARS = {0x00: t.NULL, 0x08: t.FALSE, 0x09: t.TRUE}


class CannotTakeApart(Exception):
    pass


@dataclass(frozen=True)
class Parsed:
    """One object: its type, what it says, and the objects that it refers to."""

    kind: str
    value: Any = None
    keys: tuple[int, ...] = ()
    members: tuple[int, ...] = ()


def parsed_objects(data: bytes) -> tuple[list[Parsed], int]:
    """All objects of a sound list, and which one is the top."""

    def big(at: int, size: int) -> int:
        return int.from_bytes(data[at : at + size], "big")

    end = len(data)
    offset_size, size, count, top, table = data[end - 26], data[end - 25], big(end - 24, 8), big(end - 16, 8), big(end - 8, 8)

    def parsed(at: int) -> Parsed:
        marker, at = data[at], at + 1
        kind, number = marker >> 4, marker & 15
        if number == 15 and kind in (4, 5, 6, 10, 12, 13):
            number, at = big(at + 1, 1 << (data[at] & 15)), at + 1 + (1 << (data[at] & 15))
        references = [big(at + place * size, size) for place in range(number)] if kind in (10, 13) else []
        match kind, number:
            case 0, _ if marker in SCALARS:
                return Parsed("scalar", SCALARS[marker])
            case 1, 0 | 1 | 2 | 3:
                value = int.from_bytes(data[at : at + (1 << number)], "big", signed=number == 3)
                return Parsed("integer", value)
            case 2, 2:
                return Parsed("float", big(at, 4))
            case 2 | 3, 3:
                return Parsed("real" if kind == 2 else "date", data[at : at + 8])
            case 4 | 5, _:
                return Parsed("data" if kind == 4 else "ascii", data[at : at + number])
            case 6, _:
                return Parsed("utf-16", data[at : at + 2 * number])
            case 8, 0 | 1 | 3:
                return Parsed("uid", big(at, number + 1))
            case 10, _:
                return Parsed("array", None, (), tuple(references))
            case 13, _:
                values = [big(at + place * size, size) for place in range(number, 2 * number)]
                return Parsed("dictionary", None, tuple(references), tuple(values))
        raise CannotTakeApart(f"an object {marker:02x}")

    return [parsed(big(table + place * offset_size, offset_size)) for place in range(count)], top
