"""A whole database of b-trees: canonical, or a compact copy as chance may have made it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from encoder.piece import Piece, Pieces, joined
from encoder.sqlite_file import ENCODINGS, SQLITE_VERSION, Value, varint
from encoder.store_plan import Entry, Node, Plan, Room, emissions, planned
from encoder.store_record import RawRecord, record, wide_record

Columns = list[Value] | RawRecord
Rows = list[tuple[int | None, Columns]]


@dataclass
class Item:
    """A row of `sqlite_schema`, and the tree that it names."""

    kind: str
    name: str
    sql: str | None
    rows: Rows | None = None
    """None where it names no tree."""
    table: str = ""
    """`tbl_name`, where it is another than the name."""
    no_root: int | None = 0
    """What the record has instead of a root page."""
    is_table: bool = True
    """Whether the rows have rowids."""
    derived: list[int] | None = None
    """How an index follows from its table (`COLUMNS.md` 1.3), where its entries are not to be sent."""


@dataclass
class Store:
    items: list[Item]
    page_size: int = 512
    reserved: int = 0
    auto_vacuum: bool = False
    incremental: int = 0
    encoding: str = "utf-8"
    schema_format: int = 4
    cache_size: int = 0
    user_version: int = 0
    application_id: int = 0
    first_schema_rowid: int = 1
    schema_rows: Rows | None = None
    """In place of what the items make of it, with the root pages that they get."""

    @property
    def usable(self) -> int:
        return self.page_size - self.reserved


class Layout:
    """Numbers for all pages of a store.

    `is_canonical`: else pages are filled to two thirds, and come in another order.
    """

    def __init__(self, store: Store, is_canonical: bool) -> None:
        self.store = store
        self.is_canonical = is_canonical
        self.room = Room(store.usable, store.usable if is_canonical else store.usable * 2 // 3)
        self.last = 1
        self.owners: dict[int, tuple[int, int]] = {}
        """Pointer map entries by page."""
        self.plans: list[Plan] = []
        trees = [item for item in store.items if item.rows is not None]
        self.roots = {id(item): self.next() for item in trees}
        self.highest_root = self.last
        for root in self.roots.values():
            self.owners[root] = (1, 0)
        self.plant(1, True, self.schema_rows())
        for item in self.written_items():
            self.plant(self.roots[id(item)], item.is_table, item.rows or [])

    def written_items(self) -> Iterator[Item]:
        trees = [item for item in self.store.items if item.rows is not None]
        if not self.is_canonical:
            yield from reversed(trees)
            return
        for table in trees:
            if table.kind == "table":
                yield table
                yield from (each for each in trees if each.kind == "index" and each.table == table.name)

    def schema_rows(self) -> Rows:
        return self.store.schema_rows or [
            (rowid, [item.kind, item.name, item.table or item.name, self.roots.get(id(item), item.no_root), item.sql])
            for rowid, item in enumerate(self.store.items, start=self.store.first_schema_rowid)
        ]

    def next(self) -> int:
        self.last += 1
        while self.is_map(self.last):
            self.last += 1
        return self.last

    def is_map(self, page: int) -> bool:
        """These stores are far from the lock page."""
        return self.store.auto_vacuum and (page - 2) % (self.store.usable // 5 + 1) == 0

    def encoded(self, values: Columns) -> bytes:
        if isinstance(values, RawRecord):
            return values.content
        if self.is_canonical:
            return record(values, self.store.encoding, self.store.schema_format)
        return wide_record(values, self.store.encoding)

    def plant(self, root: int, is_table: bool, rows: Rows) -> None:
        plan = planned(is_table, [Entry(rowid, self.encoded(values)) for rowid, values in rows], self.room)
        needed = plan.taken(plan.root)
        takers = list(emissions(plan)) if self.is_canonical else list(from_the_root(plan))
        if root == 1 and needed > self.store.usable - 100:
            takers.append(plan.root)
            plan.levels.append(type(plan.levels[0])([Node(children=[plan.root])], False))
        plan.root.number = root
        for taker in takers:
            if isinstance(taker, Node):
                taker.number = self.next()
            else:
                rest = len(taker.record) - self.room.local(len(taker.record), is_table)
                taker.chain = [self.next() for _ in range(0, rest, self.store.usable - 4)]
                if not self.is_canonical:
                    taker.chain.reverse()
        self.plans.append(plan)
        for node in nodes(plan.root):
            self.own(node, plan)

    def own(self, node: Node, plan: Plan) -> None:
        for child in node.children:
            self.owners[child.number] = (5, node.number)
        if not plan.is_table or not node.children:
            for entry in node.entries:
                for place, page in enumerate(entry.chain):
                    self.owners[page] = (4, entry.chain[place - 1]) if place else (3, node.number)


def nodes(root: Node) -> Iterator[Node]:
    yield root
    for child in root.children:
        yield from nodes(child)


def from_the_root(plan: Plan) -> Iterator[Node | Entry]:
    for node in nodes(plan.root):
        if node is not plan.root:
            yield node
        if not (plan.is_table and node.children):
            yield from node.entries


def written(store: Store, is_canonical: bool = True) -> Pieces:
    """The bytes of the file. What chance leaves in the gaps of one that is not canonical is EE."""
    layout = Layout(store, is_canonical)
    pages: dict[int, Pieces] = {}
    for plan in layout.plans:
        for node in nodes(plan.root):
            pages[node.number] = tree_page(node, plan, store, is_canonical)
            if not (plan.is_table and node.children):
                for entry in node.entries:
                    pages |= chain_pages(entry, plan, store, is_canonical)
    filler = b"\0" if is_canonical else b"\xee"
    for page in range(2, layout.last + 1):
        if layout.is_map(page):
            content = b"".join(
                struct.pack(">BI", *layout.owners.get(each, (0, 0)))
                for each in range(page + 1, page + 1 + store.usable // 5)
            )
            pages[page] = padded([Piece(content, f"page {page}: pointer map")], store, b"\0")
    head = file_header(store, layout, is_canonical)
    pages[1] = [Piece(head, "page 1: file header"), *pages[1]]
    if store.reserved:
        pages = {number: [*each, Piece(filler * store.reserved, "reserved")] for number, each in pages.items()}
    return [piece for _, each in sorted(pages.items()) for piece in each if piece.data]


def padded(pieces: Pieces, store: Store, filler: bytes) -> Pieces:
    return [*pieces, Piece(filler * (store.usable - len(joined(pieces))), "nothing")]


def chain_pages(entry: Entry, plan: Plan, store: Store, is_canonical: bool) -> dict[int, Pieces]:
    rest = entry.record[plan.room.local(len(entry.record), plan.is_table) :]
    pages: dict[int, Pieces] = {}
    for place, page in enumerate(entry.chain):
        following = entry.chain[place + 1] if place + 1 < len(entry.chain) else 0
        content = rest[place * (store.usable - 4) :][: store.usable - 4]
        pieces = [Piece(struct.pack(">I", following), f"page {page}: overflow, then page {following}"), Piece(content)]
        pages[page] = padded(pieces, store, b"\0" if is_canonical else b"\xee")
    return pages


def tree_page(node: Node, plan: Plan, store: Store, is_canonical: bool) -> Pieces:
    kind = {(True, False): 13, (True, True): 5, (False, False): 10, (False, True): 2}[
        plan.is_table, bool(node.children)
    ]
    cells = [
        cell(entry, child, kind, plan) for entry, child in zip_longest(node.entries, node.children[: len(node.entries)])
    ]
    total = sum(map(len, cells))
    front = 100 if node.number == 1 else 0
    start = store.usable - total
    offsets = [start + sum(map(len, cells[:place])) for place in range(len(cells))]
    if is_canonical:
        offsets = [store.usable - sum(map(len, cells[: place + 1])) for place in range(len(cells))]
        cells = cells[::-1]
    names = {
        13: "leaf of a table",
        5: "interior page of a table",
        10: "leaf of an index",
        2: "interior page of an index",
    }
    head = struct.pack(">BHHHB", kind, 0, len(cells), start & 0xFFFF, 0)
    if node.children:
        head += struct.pack(">I", node.children[-1].number)
    pointers = b"".join(struct.pack(">H", offset) for offset in offsets)
    filler = b"\0" if is_canonical else b"\xee"
    return [
        Piece(head, f"page {node.number}: {names[kind]}"), Piece(pointers, "cell pointers" if cells else ""),
        Piece(filler * (start - front - len(head) - len(pointers)), "nothing"),
        *[Piece(each, "cell") for each in cells],
    ]  # fmt: skip


def cell(entry: Entry, child: Node | None, kind: int, plan: Plan) -> bytes:
    front = struct.pack(">I", child.number) if child else b""
    if kind == 5:
        return front + varint(entry.rowid or 0)
    kept = plan.room.local(len(entry.record), plan.is_table)
    key = varint(entry.rowid or 0) if kind == 13 else b""
    chain = struct.pack(">I", entry.chain[0]) if entry.chain else b""
    return (front + varint(len(entry.record)) + key + entry.record[:kept] + chain).ljust(4, b"\0")


def file_header(store: Store, layout: Layout, is_canonical: bool) -> bytes:
    major, minor, patch = SQLITE_VERSION
    changes, cookie, version = (0, 1, 0) if is_canonical else (7, 9, major * 1_000_000 + minor * 1_000 + patch)
    return (
        b"SQLite format 3\0"
        + struct.pack(">HBBBBBB", store.page_size & 0xFFFF or 1, 1, 1, store.reserved, 64, 32, 32)
        + struct.pack(">IIIII", changes, layout.last, 0, 0, cookie)
        + struct.pack(">Ii", store.schema_format, store.cache_size)
        + struct.pack(">I", layout.highest_root if store.auto_vacuum else 0)
        + struct.pack(">IiIi", ENCODINGS[store.encoding], store.user_version, store.incremental, store.application_id)
        + bytes(20)
        + struct.pack(">II", changes, version)
    )
