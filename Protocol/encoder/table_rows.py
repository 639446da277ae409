"""The rows of a table as section 4.8 writes them, and their digest."""

from __future__ import annotations

import hashlib

from encoder.sqlite_file import Table, record, varint


def written(table: Table, encoding: str) -> bytes:
    """Each row as a cell without an end: the size of the record, the rowid, the record."""
    rows: list[bytes] = []
    for rowid, values in table.rows:
        content = record(values, encoding)
        rows.append(varint(len(content)) + (b"" if table.without_rowid else varint(rowid)) + content)
    return b"".join(rows)


def table_members(table: Table, encoding: str = "utf-8") -> dict[str, int | str]:
    """What `tables` says of it."""
    return {"rows": len(table.rows), "digest": hashlib.sha256(written(table, encoding)).hexdigest()[:32]}


def cells_members(rows: list[tuple[int | None, bytes]]) -> dict[str, int | str]:
    """The same, of rowids and records."""
    cells = [varint(len(content)) + (b"" if rowid is None else varint(rowid)) + content for rowid, content in rows]
    return {"rows": len(rows), "digest": hashlib.sha256(b"".join(cells)).hexdigest()[:32]}


EMPTY_TABLE = hashlib.sha256(b"").hexdigest()[:32]
