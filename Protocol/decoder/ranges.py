"""Answers what a producer asks about a base (`RANGES.md`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from decoder.delta.base import Base
from decoder.segment.area import Area
from decoder.segment.limits import damaged

NONCE = 16
HIGHEST_LEVEL = 16
MOST_TREES = 65_536
SHARE, LEAST = 50, 16_384
Words = tuple[int, int]
"""Of a hash: where to cut, and the digest."""


class Answers:
    def __init__(self, base: bytes, nonce: bytes) -> None:
        self.base, self.nonce = Base(base), nonce
        self.left = max(LEAST, len(base) // SHARE)
        self.key: bytes | None = None
        self.rows: list[list[Words]] = []
        self.lists: list[list[tuple[int, int]]] = []
        """Of each tree: where its ranges begin and end."""
        self.levels: list[int] = []

    def answer(self, request: bytes) -> bytes:
        found = self.first(request) if self.key is None else self.later(Area(request))
        if len(found) > self.left:
            self.left = 0
            return b""
        self.left -= len(found)
        return found

    def first(self, nonce: bytes) -> bytes:
        if len(nonce) != NONCE:
            raise damaged("a request that is no nonce")
        self.key = hashlib.sha256(b"ship-store ranges v1" + nonce + self.nonce).digest()
        settings = self.base.settings
        numbers = [
            settings.page_size, settings.reserved, settings.schema_format, settings.cache_size, int(settings.has_pointer_maps), settings.text_encoding,
            settings.user_version, settings.incremental_vacuum, settings.application_id,
        ]  # fmt: skip
        out = self.nonce + b"".join(map(varint, numbers)) + varint(len(self.base.trees))
        for place, tree in enumerate(self.base.trees):
            self.rows.append([self.words(rowid, record) for rowid, record in self.base.rows(place, settings)])
            kind = 3 if not tree.is_table else 1 if self.base.has_rowids(place) else 2
            name = self.hashed(bytes([kind]) + tree.name)[1]
            out += name.to_bytes(4, "big") + varint(len(self.rows[-1])) + total(self.rows[-1]).to_bytes(4, "big")
        self.lists = [[(0, len(rows))] for rows in self.rows]
        self.levels = [HIGHEST_LEVEL + 1 for _ in self.rows]
        return out

    def words(self, rowid: int | None, record: bytes) -> Words:
        return self.hashed((rowid or 0).to_bytes(8, "big", signed=True) + record)

    def hashed(self, content: bytes) -> Words:
        found = hashlib.sha256((self.key or b"") + content).digest()
        return int.from_bytes(found[:4], "big"), int.from_bytes(found[4:8], "big")

    def later(self, request: Area) -> bytes:
        out, lists, place = b"", [[] for _ in self.lists], -1
        for _ in range(request.varint()):
            place += request.varint() + 1
            level = request.byte()
            if place >= len(self.lists) or level >= self.levels[place]:
                raise damaged("a tree, or a level, that there is not")
            self.levels[place] = level
            out += self.parts(place, level, request, lists[place])
        if not request.is_at_end:
            raise damaged("a request that does not end")
        self.lists = lists
        return out

    def parts(self, place: int, level: int, request: Area, told: list[tuple[int, int]]) -> bytes:
        out, end = b"", 0
        for _ in range(request.varint()):
            first = end + request.varint()
            count = request.varint()
            end = first + (count >> 1) + 1
            if end > len(self.lists[place]):
                raise damaged("a range that there is not")
            start, stop = self.lists[place][first][0], self.lists[place][end - 1][1]
            if count & 1:
                out += varint(stop - start)
                continue
            ranges = list(cut(self.rows[place], start, stop, level))
            told += ranges
            out += varint(len(ranges)) + b"".join(total(self.rows[place][a:b]).to_bytes(4, "big") for a, b in ranges)
        return out


def cut(rows: list[Words], start: int, stop: int, level: int) -> Iterator[tuple[int, int]]:
    mask = 4**level - 1
    for at in range(start, stop):
        if rows[at][0] & mask == 0 or at == stop - 1:
            yield start, at + 1
            start = at + 1


def total(rows: list[Words]) -> int:
    return sum(digest for _, digest in rows) % 2**32


def varint(value: int) -> bytes:
    """The one of `COLUMNS.md`."""
    low = bytes([value & 0x7F | (0x80 if value > 0x7F else 0)])
    return low + (varint(value >> 7) if value > 0x7F else b"")
