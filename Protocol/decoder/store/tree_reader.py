"""Reads the b-trees of a file (FF 1.6), every page of it once."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from decoder.store.geometry import Geometry
from decoder.store.no_canonical_form import NoCanonicalForm
from decoder.store.records import read_varint, signed
from decoder.store.settings import HEADER_SIZE

INDEX_INTERIOR, TABLE_INTERIOR, INDEX_LEAF, TABLE_LEAF = 2, 5, 10, 13
DEEPEST = 20
"""SQLite's own limit (BTCURSOR_MAX_DEPTH)."""

Row = tuple[int | None, bytes]
"""The rowid, None in trees of indexes and of tables WITHOUT ROWID; and the record."""


@dataclass(frozen=True)
class Node:
    kind: int
    offsets: tuple[int, ...]
    """Of cells, from the start of the file."""
    end: int
    """Of the usable part of the page, from the start of the file."""
    right: int | None
    room: int
    """For cells, in bytes."""


class TreeReader:
    """`data` is the whole file. A page that is met twice is an error; `unmet` says which were never met."""

    def __init__(self, data: bytes, geometry: Geometry) -> None:
        self.data = data
        self.geometry = geometry
        self.pages = len(data) // geometry.page_size
        self._met = bytearray(self.pages + 1)

    def unmet(self) -> list[int]:
        return [page for page in range(1, self.pages + 1) if not self._met[page] and self.geometry.holds_content(page)]

    def has_rowids(self, root: int) -> bool:
        return self._node(root).kind in (TABLE_INTERIOR, TABLE_LEAF)

    def rows(self, root: int) -> Iterator[Row]:
        """In the order of keys."""
        leaf = TABLE_LEAF if self.has_rowids(root) else INDEX_LEAF
        depths: set[int] = set()
        last: int | None = None
        for rowid, payload in self._below(root, leaf, 1, depths):
            if rowid is not None and last is not None and rowid <= last:
                raise NoCanonicalForm("rowids that do not rise")
            last = rowid
            yield rowid, payload
        if len(depths) > 1:
            raise NoCanonicalForm("leaves in several depths")

    def _below(self, page: int, leaf: int, depth: int, depths: set[int]) -> Iterator[Row]:
        if depth > DEEPEST:
            raise NoCanonicalForm("a tree that is too deep")
        self._meet(page)
        node = self._node(page)
        if sum(max(4, self._length(offset, node)) for offset in node.offsets) > node.room:
            raise NoCanonicalForm("cells that overlap")
        if node.kind == leaf:
            depths.add(depth)
            for offset in node.offsets:
                yield self._row(offset, node.end, leaf)
            return
        if node.kind != (TABLE_INTERIOR if leaf == TABLE_LEAF else INDEX_INTERIOR) or node.right is None:
            raise NoCanonicalForm("a page of another tree's kind")
        for offset in node.offsets:
            child, at = self._number(offset, node.end), offset + 4
            if leaf == INDEX_LEAF:
                yield from self._below(child, leaf, depth + 1, depths)
                yield self._row(at, node.end, leaf)
                continue
            separator = signed(self._varint(at, node.end)[0])
            for rowid, payload in self._below(child, leaf, depth + 1, depths):
                if rowid is None or rowid > separator:
                    raise NoCanonicalForm("a rowid above its separator")
                yield rowid, payload
        yield from self._below(node.right, leaf, depth + 1, depths)

    def _meet(self, page: int) -> None:
        if not 1 <= page <= self.pages or not self.geometry.holds_content(page):
            raise NoCanonicalForm(f"page {page} is none that holds content")
        if self._met[page]:
            raise NoCanonicalForm(f"page {page} is there twice")
        self._met[page] = 1

    def _node(self, page: int) -> Node:
        if not 1 <= page <= self.pages:
            raise NoCanonicalForm(f"there is no page {page}")
        start = (page - 1) * self.geometry.page_size
        front = start + (HEADER_SIZE if page == 1 else 0)
        end = start + self.geometry.usable
        kind, _, count = struct.unpack(">BHH", self.data[front : front + 5])
        if kind not in (INDEX_INTERIOR, TABLE_INTERIOR, INDEX_LEAF, TABLE_LEAF):
            raise NoCanonicalForm(f"page {page} has kind {kind}")
        is_interior = kind in (INDEX_INTERIOR, TABLE_INTERIOR)
        pointers = front + (12 if is_interior else 8)
        if pointers + 2 * count > end:
            raise NoCanonicalForm(f"page {page} has too many cells")
        offsets = struct.unpack(f">{count}H", self.data[pointers : pointers + 2 * count])
        if any(start + offset < pointers + 2 * count for offset in offsets):
            raise NoCanonicalForm(f"page {page} has a cell among its pointers")
        right = struct.unpack(">I", self.data[front + 8 : front + 12])[0] if is_interior else None
        return Node(kind, tuple(start + offset for offset in offsets), end, right, end - pointers - 2 * count)

    def _number(self, at: int, end: int) -> int:
        if at + 4 > end:
            raise NoCanonicalForm("a cell that is cut")
        return int.from_bytes(self.data[at : at + 4], "big")

    def _varint(self, at: int, end: int) -> tuple[int, int]:
        try:
            value, after = read_varint(self.data[at : min(at + 9, end)], 0)
        except IndexError:
            raise NoCanonicalForm("a cell that is cut") from None
        return value, at + after

    def _length(self, at: int, node: Node) -> int:
        """Of the cell at an offset."""
        start = at
        if node.kind in (INDEX_INTERIOR, TABLE_INTERIOR):
            at += 4
        size, at = self._varint(at, node.end)
        if node.kind == TABLE_INTERIOR:
            return at - start
        if node.kind == TABLE_LEAF:
            _, at = self._varint(at, node.end)
        kept = self.geometry.kept(size, node.kind == TABLE_LEAF)
        return at - start + kept + (4 if kept < size else 0)

    def _row(self, at: int, end: int, leaf: int) -> Row:
        size, at = self._varint(at, end)
        rowid: int | None = None
        if leaf == TABLE_LEAF:
            number, at = self._varint(at, end)
            rowid = signed(number)
        kept = self.geometry.kept(size, leaf == TABLE_LEAF)
        if at + kept > end or size > len(self.data):
            raise NoCanonicalForm("a cell that is cut")
        payload = self.data[at : at + kept]
        return rowid, payload if kept == size else self._whole(payload, size, self._number(at + kept, end))

    def _whole(self, payload: bytes, size: int, page: int) -> bytes:
        pieces, left = [payload], size - len(payload)
        while left:
            self._meet(page)
            start = (page - 1) * self.geometry.page_size
            piece = min(left, self.geometry.usable - 4)
            page = int.from_bytes(self.data[start : start + 4], "big")
            pieces.append(self.data[start + 4 : start + 4 + piece])
            left -= piece
        if page:
            raise NoCanonicalForm("an overflow chain that does not end")
        return b"".join(pieces)
