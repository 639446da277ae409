"""Section 4.8, from a store's file to what `tables` says of it, by its b-trees."""

from __future__ import annotations

import hashlib

from decoder.store.canonical_file import rows_with_rowids
from decoder.store.records import Text, varint
from decoder.store.schema import checked
from decoder.store.settings import settings_of_any
from decoder.store.tree_reader import TreeReader

Told = dict[str, tuple[int, str]]
"""By the name of the table: its rows, and their digest."""


def contents(data: bytes) -> Told:
    """`NoCanonicalForm` where its tables cannot be read."""
    settings = settings_of_any(data)
    reader = TreeReader(data, settings.geometry)
    table, found = Text("table".encode(settings.codec)), {}
    for row in checked(rows_with_rowids(reader, 1), settings):
        name = bytes(row.name).decode(settings.codec) if isinstance(row.name, Text) else ""
        if row.root and row.kind == table and not name.startswith("sqlite_"):
            found[name] = content(reader, row.root)
    return found


def content(reader: TreeReader, root: int) -> tuple[int, str]:
    digest, count = hashlib.sha256(), 0
    for rowid, payload in reader.rows(root):
        count += 1
        digest.update(varint(len(payload)) + (b"" if rowid is None else varint(rowid)) + payload)
    return count, digest.hexdigest()[:32]


def told(data: bytes) -> list[str]:
    """The lines of a vector."""
    lines: list[str] = []
    for name, (rows, digest) in contents(data).items():
        lines += [f"value.{name}.digest: {digest}", f"value.{name}.rows: {rows}"]
    return sorted(lines)
