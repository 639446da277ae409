"""Tiny SQLite databases (sqlite.org/fileformat2.html), written page by page.

Each table has one leaf page, so that the files are the same whatever SQLite is installed, and a reader sees why.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, replace

SQLITE_VERSION = (3, 40, 1)
ENCODINGS = {"utf-8": 1, "utf-16-le": 2, "utf-16-be": 3}


@dataclass(frozen=True)
class RawText:
    """Text by its bytes, which may be no text at all."""

    content: bytes


Value = None | int | float | str | bytes | RawText


@dataclass(frozen=True)
class Table:
    name: str
    sql: str
    rows: list[tuple[int, list[Value]]]
    """Row identifier and columns; the column that is the row identifier is NULL in the record."""
    without_rowid: bool = False
    """Then the row identifiers mean nothing, and the columns are those of the key, then the others."""


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
    if value < 0 or value >> 56:  # nine bytes, the last one whole
        rest = value & 2**64 - 1
        return bytes(rest >> 8 + 7 * group & 0x7F | 0x80 for group in reversed(range(8))) + bytes([rest & 0xFF])
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(value & 0x7F | 0x80)
    return bytes(reversed(groups))


def record(values: list[Value], encoding: str) -> bytes:
    types, bodies = b"", b""
    for value in values:
        serial, body = encoded_value(value.encode(encoding) if isinstance(value, str) else value, isinstance(value, str))
        types += varint(serial)
        bodies += body
    return varint(len(types) + 1) + types + bodies


def encoded_value(value: Value, is_text: bool) -> tuple[int, bytes]:
    if isinstance(value, RawText):
        return encoded_value(value.content, True)
    if value is None:
        return 0, b""
    if isinstance(value, bytes):
        return (13 if is_text else 12) + 2 * len(value), value
    if isinstance(value, float):
        return 7, struct.pack(">d", value)
    if value in (0, 1):
        return 8 + value, b""
    if -128 <= value <= 127:
        return 1, struct.pack(">b", value)
    if -(2**31) <= value < 2**31:
        return 4, struct.pack(">i", value)
    return 6, struct.pack(">q", value)


def leaf_page(table: Table, page_size: int, encoding: str, front: bytes = b"") -> bytes:
    """A table's leaf page; `front` is the file header, on page 1."""
    cells: list[bytes] = []
    for identifier, values in table.rows:
        payload = record(values, encoding)
        cells.append(varint(len(payload)) + (b"" if table.without_rowid else varint(identifier)) + payload)
    content, pointers = page_size, b""
    for cell in cells:
        content -= len(cell)
        pointers += struct.pack(">H", content)
    head = front + struct.pack(">BHHHB", 0x0A if table.without_rowid else 0x0D, 0, len(cells), content, 0) + pointers
    if len(head) > content:
        raise ValueError("the rows do not fit on one page")
    return head + bytes(content - len(head)) + b"".join(reversed(cells))


def file_header(page_size: int, pages: int, tables: int, application_id: int, user_version: int, encoding: str) -> bytes:
    major, minor, patch = SQLITE_VERSION
    return (
        b"SQLite format 3\0"
        + struct.pack(">HBBBBBB", page_size, 1, 1, 0, 64, 32, 32)
        + struct.pack(">IIIIII", 1, pages, 0, 0, tables, 4)
        + struct.pack(">IIIiIi", 0, 0, ENCODINGS[encoding], user_version, 0, application_id)
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


def store_file(
    tables: list[Table], page_size: int, application_id: int = 0, user_version: int = 0, encoding: str = "utf-8"
) -> StoreFile:
    schema: list[tuple[int, list[Value]]] = [
        (number, ["table", table.name, table.name, number + 1, table.sql])
        for number, table in enumerate(tables, start=1)
    ]
    front = file_header(page_size, 1 + len(tables), len(tables), application_id, user_version, encoding)
    pages = leaf_page(Table("sqlite_schema", "", schema), page_size, encoding, front)
    for table in tables:
        pages += leaf_page(table, page_size, encoding)
    return StoreFile(pages, page_size, application_id, user_version, schema_digest(tables))
