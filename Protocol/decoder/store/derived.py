"""Indexes that follow from their tables: `COLUMNS.md` section 1.3."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from decoder.refused import Refused
from decoder.segment.work import Work
from decoder.store.records import Real, Text, Value, parsed, record
from decoder.store.tree_reader import Row

LONGEST_ENTRY = 32_768
BINARY, NOCASE, RTRIM = range(3)
TO_LOWER = bytes(byte + 32 if 0x41 <= byte <= 0x5A else byte for byte in range(256))


@dataclass(frozen=True)
class KeyPart:
    is_descending: bool
    collation: int
    place: int | None
    """Of the value in the row's record; None for the rowid."""


def key_part(number: int, is_utf_8: bool) -> KeyPart:
    collation = number >> 1 & 3
    if collation > RTRIM or (collation != BINARY and not is_utf_8):
        raise Refused("damaged", "a collation that cannot be")
    return KeyPart(bool(number & 1), collation, (number >> 3) - 1 if number >> 3 else None)


class Falling:
    """Turns an order over."""

    __slots__ = ("key",)

    def __init__(self, key: tuple[int, Any]) -> None:
        self.key = key

    def __lt__(self, other: Falling) -> bool:
        return other.key < self.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Falling) and self.key == other.key


def derived(rows: Iterable[Row], parts: list[KeyPart], schema_format: int, work: Work) -> list[bytes]:
    """The records of the index, in order. Entries that compare equal keep the order of their rows."""
    found: list[tuple[list[Any], bytes]] = []
    for rowid, payload in rows:
        work.reads(payload)
        columns = parsed(payload)
        values: list[Value] = []
        for part in parts:
            if rowid is None if part.place is None else part.place >= len(columns):
                raise Refused("damaged", "a row that lacks a value of an entry")
            values.append(rowid if part.place is None else columns[part.place])
        entry = record(values, schema_format)
        if len(entry) > LONGEST_ENTRY:
            raise Refused("damaged", "an entry that is too long")
        work.makes(entry)
        keys = [ranked(value, part.collation) for value, part in zip(values, parts)]
        found.append(([Falling(key) if part.is_descending else key for key, part in zip(keys, parts)], entry))
    found.sort(key=lambda pair: pair[0])
    return [entry for _, entry in found]


def ranked(value: Value, collation: int) -> tuple[int, Any]:
    """Compares as SQLite does. Python compares integers and reals by their exact values."""
    if value is None:
        return 0, 0
    if isinstance(value, Real):
        number: float = struct.unpack(">d", value)[0]
        return (0, 0) if number != number else (1, number)
    if isinstance(value, int):
        return 1, value
    if isinstance(value, Text):
        content = bytes(value)
        if collation == NOCASE:
            content = content.translate(TO_LOWER)
        return 2, content.rstrip(b" ") if collation == RTRIM else content
    return 3, value
