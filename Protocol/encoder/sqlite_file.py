"""Tiny SQLite databases (sqlite.org/fileformat2.html), written page by page.

Each table has one leaf page, so that the files are the same whatever SQLite is installed, and a reader sees why.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, replace

SQLITE_VERSION = (3, 40, 1)
Value = None | int | str | bytes


@dataclass(frozen=True)
class Table:
    name: str
    sql: str
    rows: list[tuple[int, list[Value]]]
    """Row identifier and columns; the column that is the row identifier is NULL in the record."""


@dataclass(frozen=True)
class StoreFile:
    data: bytes
    page_size: int
    application_id: int
    user_version: int
    schema_digest: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def with_bytes(self, offset: int, replacement: bytes) -> StoreFile:
        changed = self.data[:offset] + replacement + self.data[offset + len(replacement) :]
        return replace(self, data=changed)


def varint(value: int) -> bytes:
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(value & 0x7F | 0x80)
    return bytes(reversed(groups))


def record(values: list[Value]) -> bytes:
    types, bodies = b"", b""
    for value in values:
        serial, body = encoded_value(value)
        types += varint(serial)
        bodies += body
    return varint(len(types) + 1) + types + bodies


def encoded_value(value: Value) -> tuple[int, bytes]:
    if value is None:
        return 0, b""
    if isinstance(value, bytes):
        return 12 + 2 * len(value), value
    if isinstance(value, str):
        return 13 + 2 * len(value.encode()), value.encode()
    if value in (0, 1):
        return 8 + value, b""
    if -128 <= value <= 127:
        return 1, struct.pack(">b", value)
    return 4, struct.pack(">i", value)


def leaf_page(rows: list[tuple[int, list[Value]]], page_size: int, front: bytes = b"") -> bytes:
    """A table's leaf page; `front` is the file header, on page 1."""
    cells: list[bytes] = []
    for identifier, values in rows:
        payload = record(values)
        cells.append(varint(len(payload)) + varint(identifier) + payload)
    content, pointers = page_size, b""
    for cell in cells:
        content -= len(cell)
        pointers += struct.pack(">H", content)
    head = front + struct.pack(">BHHHB", 0x0D, 0, len(cells), content, 0) + pointers
    if len(head) > content:
        raise ValueError("the rows do not fit on one page")
    return head + bytes(content - len(head)) + b"".join(reversed(cells))


def file_header(page_size: int, pages: int, tables: int, application_id: int, user_version: int) -> bytes:
    major, minor, patch = SQLITE_VERSION
    return (
        b"SQLite format 3\0"
        + struct.pack(">HBBBBBB", page_size, 1, 1, 0, 64, 32, 32)
        + struct.pack(">IIIIII", 1, pages, 0, 0, tables, 4)
        + struct.pack(">IIIiIi", 0, 0, 1, user_version, 0, application_id)
        + bytes(20)
        + struct.pack(">II", 1, major * 1_000_000 + minor * 1_000 + patch)
    )


def schema_digest(tables: list[Table]) -> str:
    """Section 4.5, for tables alone."""
    digest = hashlib.sha256()
    for table in sorted(tables, key=lambda table: table.name.encode()):
        for column in ("table", table.name, table.name, table.sql):
            digest.update(column.encode() + b"\0")
    return digest.hexdigest()


def store_file(tables: list[Table], page_size: int, application_id: int = 0, user_version: int = 0) -> StoreFile:
    schema: list[tuple[int, list[Value]]] = [
        (number, ["table", table.name, table.name, number + 1, table.sql])
        for number, table in enumerate(tables, start=1)
    ]
    front = file_header(page_size, 1 + len(tables), len(tables), application_id, user_version)
    pages = leaf_page(schema, page_size, front)
    for table in tables:
        pages += leaf_page(table.rows, page_size)
    return StoreFile(pages, page_size, application_id, user_version, schema_digest(tables))
