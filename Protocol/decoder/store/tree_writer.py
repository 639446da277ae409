"""Sections 5 and 6: a tree, written bottom up from its rows in the order of keys."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

from decoder.store.pages import CHILD, FIRST_OF_CHAIN, Pages
from decoder.store.records import varint
from decoder.store.settings import HEADER_SIZE
from decoder.store.tree_reader import INDEX_INTERIOR, INDEX_LEAF, TABLE_INTERIOR, TABLE_LEAF, Row

SMALLEST_CELL = 4


@dataclass(frozen=True)
class Cell:
    body: bytes
    """Without the number of a child."""
    chain: int = 0
    """First overflow page."""
    child: int = 0

    def bytes(self) -> bytes:
        front = struct.pack(">I", self.child) if self.child else b""
        return (front + self.body).ljust(SMALLEST_CELL, b"\0")


@dataclass
class Page:
    kind: int
    cells: list[Cell] = field(default_factory=list)
    right: int = 0
    used: int = 0
    """Of its usable bytes."""

    def __post_init__(self) -> None:
        self.used = 12 if self.kind in (INDEX_INTERIOR, TABLE_INTERIOR) else 8

    def has_room(self, length: int, usable: int) -> bool:
        """For a cell of that length."""
        return self.used + max(length, SMALLEST_CELL) + 2 <= usable

    def add(self, cell: Cell, usable: int) -> bool:
        """False where the cell does not fit."""
        length = len(cell.bytes())
        if not self.has_room(length, usable):
            return False
        self.cells.append(cell)
        self.used += length + 2
        return True

    def take_last(self) -> Cell:
        cell = self.cells.pop()
        self.used -= len(cell.bytes()) + 2
        return cell

    def content(self, front: bytes, usable: int) -> bytes:
        """`front` is what stands before the page's header: on page 1 the header of the file."""
        at, pointers = usable, b""
        bodies = [cell.bytes() for cell in self.cells]
        for body in bodies:
            at -= len(body)
            pointers += struct.pack(">H", at)
        head = front + struct.pack(">BHHHB", self.kind, 0, len(bodies), at & 0xFFFF, 0)
        if self.kind in (INDEX_INTERIOR, TABLE_INTERIOR):
            head += struct.pack(">I", self.right)
        return (head + pointers).ljust(at, b"\0") + b"".join(reversed(bodies))


@dataclass
class Held:
    page: Page
    separator: Cell


class Level:
    """The interior pages of one level, the one above the leaves being the first."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.page = Page(tree.interior)
        self.held: Held | None = None
        self._above: Level | None = None

    def push(self, child: int, separator: Cell) -> None:
        cell = Cell(separator.body, separator.chain, child)
        was_empty = not self.page.cells
        if self.page.add(cell, self.tree.usable):
            if was_empty:
                self._release()
            return
        self.page.right = child
        self.held = Held(self.page, separator)
        self.page = Page(self.tree.interior)

    def _release(self) -> None:
        if self.held:
            held, self.held = self.held, None
            self._above = self._above or Level(self.tree)
            self._above.push(self.tree.emit(held.page), held.separator)

    def end(self, right: int) -> None:
        if not self.page.cells and self.held:
            first = Cell(self.held.separator.body, self.held.separator.chain, self.held.page.right)
            last = self.held.page.take_last()
            self.held.page.right = last.child
            self.held.separator = Cell(last.body, last.chain)
            self.page.add(first, self.tree.usable)
            self._release()
        self.page.right = right
        if self._above:
            self._above.end(self.tree.emit(self.page))
        else:
            self.tree.root_page(self.page)


class Tree:
    """Writes one tree; all pages but the root take the next numbers."""

    def __init__(self, pages: Pages, root: int, has_rowids: bool, header: bytes = b"") -> None:
        self.pages = pages
        self.root = root
        self.usable = pages.geometry.usable
        self.interior = TABLE_INTERIOR if has_rowids else INDEX_INTERIOR
        self.leaf = TABLE_LEAF if has_rowids else INDEX_LEAF
        self.first_level: Level | None = None
        self._header = header

    def write(self, rows: Iterable[Row]) -> None:
        last = self._table_leaves(rows) if self.leaf == TABLE_LEAF else self._index_leaves(rows)
        if self.first_level:
            self.first_level.end(self.emit(last))
        else:
            self.root_page(last)

    def _table_leaves(self, rows: Iterable[Row]) -> Page:
        leaf, last = Page(TABLE_LEAF), 0
        for rowid, payload in rows:
            if rowid is None:
                raise ValueError("a row without a rowid")
            body, rest = self._cell(payload, varint(rowid))
            if not leaf.has_room(len(body) + (4 if rest else 0), self.usable):
                self._push(self.emit(leaf), Cell(varint(last)))
                leaf = Page(TABLE_LEAF)
            if not leaf.add(self._placed(body, rest), self.usable):
                raise ValueError("a cell that fits no page")
            last = rowid
        return leaf

    def _index_leaves(self, rows: Iterable[Row]) -> Page:
        leaf, held = Page(INDEX_LEAF), None
        for _, payload in rows:
            cell = self._placed(*self._cell(payload, b""))
            was_empty = not leaf.cells
            if leaf.add(cell, self.usable):
                if was_empty and held:
                    self._push(self.emit(held.page), held.separator)
                    held = None
            else:
                leaf, held = Page(INDEX_LEAF), Held(leaf, cell)
        if held and not leaf.cells:
            leaf.add(held.separator, self.usable)
            separator = held.page.take_last()
            self._push(self.emit(held.page), separator)
        return leaf

    def _push(self, child: int, separator: Cell) -> None:
        self.first_level = self.first_level or Level(self)
        self.first_level.push(child, separator)

    def _cell(self, payload: bytes, key: bytes) -> tuple[bytes, bytes]:
        """The body of a leaf's cell without the number of the chain, and what goes there."""
        kept = self.pages.geometry.kept(len(payload), self.leaf == TABLE_LEAF)
        return varint(len(payload)) + key + payload[:kept], payload[kept:]

    def _placed(self, body: bytes, rest: bytes) -> Cell:
        if not rest:
            return Cell(body)
        chain = self.pages.place(rest)
        return Cell(body + struct.pack(">I", chain), chain)

    def emit(self, page: Page) -> int:
        number = self.pages.next()
        self._write(page, number)
        return number

    def root_page(self, page: Page) -> None:
        """Page 1 may have too little room for it, because of the header of the file."""
        if self.root == 1 and page.used > self.usable - HEADER_SIZE:
            page, child = Page(self.interior), self.emit(page)
            page.right = child
        self._write(page, self.root)

    def _write(self, page: Page, number: int) -> None:
        for cell in page.cells:
            if cell.chain:
                self.pages.belongs(cell.chain, FIRST_OF_CHAIN, number)
            if cell.child:
                self.pages.belongs(cell.child, CHILD, number)
        if page.right:
            self.pages.belongs(page.right, CHILD, number)
        self.pages.write(number, page.content(bytes(HEADER_SIZE) if number == 1 else b"", self.usable))
