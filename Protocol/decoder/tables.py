"""Section 4.8, from a store's file to what `tables` says of it. Python's own SQLite reads the store."""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from typing import Any


class Text(bytes):
    """A text by its bytes in UTF-8; what is only `bytes` is a blob."""


def told(data: bytes) -> list[str]:
    """The lines of a vector."""
    store = sqlite3.connect(":memory:")
    store.deserialize(data)
    store.text_factory = Text
    names = store.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage <> 0 AND substr(name, 1, 7) <> 'sqlite_'"
    )
    lines: list[str] = []
    for (name,) in names.fetchall():
        count, digest = content(store, name.decode())
        lines += [f"value.{name.decode()}.digest: {digest}", f"value.{name.decode()}.rows: {count}"]
    return sorted(lines)


def content(store: sqlite3.Connection, table: str) -> tuple[int, str]:
    columns = [
        name.decode() for name, hidden in store.execute("SELECT name, hidden FROM pragma_table_xinfo(?)", [table])
        if hidden == 0
    ]
    (has_key_order,) = store.execute("SELECT wr FROM pragma_table_list WHERE name = ?", [table]).fetchone()
    taken = {column.lower() for column in columns}
    free = [name for name in ("rowid", "_rowid_", "oid") if name not in taken]
    chosen = [f'"{column}"' for column in columns]
    if free and not has_key_order:
        chosen.insert(0, free[0])
    digest, count = hashlib.sha256(), 0
    # Without an index SQLite reads the table's own b-tree, from its first row to its last.
    for row in store.execute(f'SELECT {", ".join(chosen)} FROM "{table}" NOT INDEXED'):
        count += 1
        for value in row:
            digest.update(written(value))
    return count, digest.hexdigest()[:16]


def written(value: Any) -> bytes:
    match value:
        case None:
            return bytes([5])
        case int():
            return bytes([1]) + value.to_bytes(8, "big", signed=True)
        case float():
            return bytes([2]) + struct.pack("!d", value)
        case Text():
            return bytes([3]) + len(value).to_bytes(8, "big") + value
        case _:
            return bytes([4]) + len(value).to_bytes(8, "big") + value
