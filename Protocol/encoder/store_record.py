"""Records of SQLite (sqlite.org/fileformat2.html 2.1): the canonical one, and others that mean the same."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from encoder.sqlite_file import RawText, Value, varint


@dataclass(frozen=True)
class RawRecord:
    """A record by its bytes, which may break any rule."""

    content: bytes


WIDTHS = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (6, 8)]
"""Serial types of integers, and their bytes."""


def record(values: list[Value], encoding: str = "utf-8", schema_format: int = 4) -> bytes:
    return assembled([typed(value, encoding, schema_format) for value in values])


def wide_record(values: list[Value], encoding: str = "utf-8") -> bytes:
    """Each integer in 8 bytes, and each varint one byte longer than it need be."""
    columns = [
        (6, struct.pack(">q", value)) if isinstance(value, int) else typed(value, encoding, 4) for value in values
    ]
    types = b"".join(b"\x80" + varint(serial) for serial, _ in columns)
    front = 2 if len(types) < 126 else 3
    return b"\x80" + varint(front + len(types)) + types + b"".join(body for _, body in columns)


def assembled(columns: list[tuple[int, bytes]]) -> bytes:
    types = b"".join(varint(serial) for serial, _ in columns)
    size = len(types) + (1 if len(types) < 127 else 2 if len(types) < 16_382 else 3)
    return varint(size) + types + b"".join(body for _, body in columns)


def typed(value: Value, encoding: str, schema_format: int) -> tuple[int, bytes]:
    if value is None:
        return 0, b""
    if isinstance(value, float):
        return 7, struct.pack(">d", value)
    if isinstance(value, (str, RawText)):
        content = value.encode(encoding) if isinstance(value, str) else value.content
        return 13 + 2 * len(content), content
    if isinstance(value, bytes):
        return 12 + 2 * len(value), value
    if schema_format == 4 and 0 <= value <= 1:
        return 8 + value, b""
    serial, width = next((serial, width) for serial, width in WIDTHS if -(256**width) <= 2 * value < 256**width)
    return serial, (value % 256**width).to_bytes(width, "big")
