"""The pages of a canonical file: their numbers (section 4) and the pointer maps (section 7)."""

from __future__ import annotations

import struct
from typing import BinaryIO

from decoder.store.geometry import Geometry
from decoder.store.no_canonical_form import NoCanonicalForm

ROOT, FIRST_OF_CHAIN, IN_CHAIN, CHILD = 1, 3, 4, 5


class Pages:
    """Gives the numbers, and writes each page to its place in `out`."""

    def __init__(self, geometry: Geometry, out: BinaryIO, most: int) -> None:
        self.geometry = geometry
        self.most = most
        self.highest = 1
        self._out = out
        self._maps: dict[int, bytearray] = {}
        self._kept: list[tuple[int, int]] = []
        self._filling: tuple[int, int] | None = None

    def next(self) -> int:
        if self._filling is not None:
            before, last = self._filling
            number = self.geometry.after(before)
            if number > last:
                raise NoCanonicalForm("more pages than were kept for the tree")
            self._filling = (number, last)
            return number
        self.highest = self.geometry.after(self.highest)
        if self.highest > self.most:
            raise NoCanonicalForm("more pages than there may be")
        return self.highest

    def keep(self, count: int) -> tuple[int, int]:
        """Gives the pages of a tree that is written after others: the page before the first of them, and the last."""
        before = self.highest
        for _ in range(count):
            self.next()
        self._kept.append((before, self.highest))
        return before, self.highest

    def is_kept(self, page: int) -> bool:
        return any(before < page <= last for before, last in self._kept)

    def fill(self, kept: tuple[int, int]) -> None:
        self._filling = kept

    def check_filled(self) -> None:
        if self._filling is None or self._filling[0] != self._filling[1]:
            raise NoCanonicalForm("a page that was kept and is not taken")
        self._filling = None

    def write(self, number: int, content: bytes) -> None:
        """The rest of the page is zero."""
        if len(content) > self.geometry.page_size:
            raise ValueError("more than a page")
        self._out.seek((number - 1) * self.geometry.page_size)
        self._out.write(content.ljust(self.geometry.page_size, b"\0"))

    def belongs(self, number: int, kind: int, parent: int) -> None:
        """The pointer map entry of a page that was given."""
        if not self.geometry.has_pointer_maps:
            return
        page = self.geometry.map_page(number)
        entries = self._maps.setdefault(page, bytearray(self.geometry.usable))
        at = 5 * (number - page - 1)
        entries[at : at + 5] = struct.pack(">BI", kind, parent)

    def place(self, payload: bytes) -> int:
        """Writes the rest of a payload to a chain of overflow pages and gives the first one's number."""
        room = self.geometry.usable - 4
        numbers = [self.next() for _ in range(0, len(payload), room)]
        for index, number in enumerate(numbers):
            following = numbers[index + 1] if index + 1 < len(numbers) else 0
            self.write(number, struct.pack(">I", following) + payload[index * room : (index + 1) * room])
            if index:
                self.belongs(number, IN_CHAIN, numbers[index - 1])
        return numbers[0]

    def finish(self) -> None:
        """Writes the pages without content up to the highest page."""
        if self.highest > self.geometry.lock_page:
            self.write(self.geometry.lock_page, b"")
        for page, entries in self._maps.items():
            self.write(page, bytes(entries))
