"""The rows of a table as section 4.8 writes them, and their digest."""

from __future__ import annotations

import hashlib
import struct

from encoder.sqlite_file import RawText, Value


def written(value: Value) -> bytes:
    if value is None:
        return b"\x05"
    if isinstance(value, int):
        return b"\x01" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"\x02" + struct.pack(">d", value)
    if isinstance(value, str):
        value = RawText(value.encode())
    tag, content = (b"\x03", value.content) if isinstance(value, RawText) else (b"\x04", value)
    return tag + struct.pack(">Q", len(content)) + content


def written_digest(rows: list[list[Value]]) -> str:
    """Of rows in their order, each with its rowid first where it has one."""
    return hashlib.sha256(b"".join(written(value) for row in rows for value in row)).hexdigest()[:16]


EMPTY_TABLE = written_digest([])
