"""What a consumer tells of a base (`RANGES.md`), from the rows that the base is made of."""

from __future__ import annotations

import hashlib
import struct

from encoder.piece import Pieces, binary
from encoder.segment import varint
from encoder.store_pages import Item, Layout, Store

ENCODINGS = {"utf-8": 1, "utf-16-le": 2, "utf-16-be": 3}


class Ranges:
    def __init__(self, store: Store, producer: bytes, consumer: bytes) -> None:
        self.store, self.consumer = store, consumer
        self.key = hashlib.sha256(b"ship-store ranges v1" + producer + consumer).digest()
        layout = Layout(store, True)
        items = [item for item in store.items if item.rows is not None]
        schema = [(rowid, [*list(row)[:3], 1 if list(row)[3] else list(row)[3], list(row)[4]]) for rowid, row in layout.schema_rows()]
        self.trees: list[list[tuple[int, int]]] = []
        self.names: list[int] = []
        for name, kind, rows in [("", 1, schema), *((item.name, kind_of(item), item.rows or []) for item in items)]:
            self.names.append(self.hashed(bytes([kind]) + name.encode(store.encoding))[1])
            self.trees.append([self.hashed(struct.pack(">q", rowid or 0) + layout.encoded(values)) for rowid, values in rows])

    def hashed(self, content: bytes) -> tuple[int, int]:
        return struct.unpack(">II", hashlib.sha256(self.key + content).digest()[:8])

    def first(self) -> Pieces:
        store = self.store
        settings = [
            store.page_size, store.reserved, store.schema_format, store.cache_size % 2**32, int(store.auto_vacuum), ENCODINGS[store.encoding],
            store.user_version % 2**32, store.incremental, store.application_id % 2**32,
        ]  # fmt: skip
        pieces = binary(self.consumer, "the consumer's nonce") + binary(b"".join(map(varint, settings)), "settings") + binary(varint(len(self.trees)), "trees")
        for name, rows in zip(self.names, self.trees):
            pieces += binary(struct.pack(">I", name) + varint(len(rows)) + summed(rows), f"{len(rows)} rows")
        return pieces

    def cut(self, tree: int, start: int, stop: int, level: int) -> list[tuple[int, int]]:
        """Where the ranges begin and end into which rows are cut."""
        ends = [at + 1 for at in range(start, stop) if at == stop - 1 or self.trees[tree][at][0] % 4**level == 0]
        return list(zip([start, *ends], ends))

    def told(self, tree: int, ranges: list[tuple[int, int]]) -> Pieces:
        digests = b"".join(summed(self.trees[tree][start:stop]) for start, stop in ranges)
        return binary(varint(len(ranges)), "ranges") + (binary(digests, "their digests") if digests else [])


def kind_of(item: Item) -> int:
    return 3 if item.kind == "index" else 1 if item.is_table else 2


def summed(rows: list[tuple[int, int]]) -> bytes:
    return struct.pack(">I", sum(digest for _, digest in rows) & 0xFFFF_FFFF)


def asked(*trees: tuple[int, int, list[tuple[int, int, bool]]]) -> Pieces:
    """A later COMPARE: of each tree its number, the level, and its parts: ranges passed over, how many, and whether only to count."""
    pieces, last = binary(varint(len(trees)), "trees"), -1
    for tree, level, parts in trees:
        pieces += binary(varint(tree - last - 1) + bytes([level]) + varint(len(parts)), f"tree {tree}, level {level}")
        for gap, count, is_counted in parts:
            pieces += binary(varint(gap) + varint(2 * (count - 1) + int(is_counted)), f"{count} after {gap}{', counted' if is_counted else ''}")
        last = tree
    return pieces
