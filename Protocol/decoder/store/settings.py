"""What the header of a file says of the store itself, and the canonical header (section 3)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from decoder.store.geometry import Geometry
from decoder.store.no_canonical_form import NoCanonicalForm

HEADER_SIZE = 100


@dataclass(frozen=True)
class Settings:
    page_size: int
    reserved: int
    schema_format: int
    cache_size: int
    """As an unsigned number, like all of these."""
    has_pointer_maps: bool
    text_encoding: int
    """1 UTF-8, 2 UTF-16le, 3 UTF-16be; 0 where nothing was ever written."""
    user_version: int
    incremental_vacuum: int
    application_id: int

    @property
    def geometry(self) -> Geometry:
        return Geometry(self.page_size, self.reserved, self.has_pointer_maps)

    @property
    def codec(self) -> str:
        return {2: "utf-16-le", 3: "utf-16-be"}.get(self.text_encoding, "utf-8")

    def header(self, pages: int, highest_root: int) -> bytes:
        return (
            b"SQLite format 3\0"
            + struct.pack(">H", self.page_size & 0xFFFF | self.page_size >> 16)
            + bytes([1, 1, self.reserved, 64, 32, 32])
            + struct.pack(">IIIII", 0, pages, 0, 0, 1)
            + struct.pack(">II", self.schema_format, self.cache_size)
            + struct.pack(">I", highest_root if self.has_pointer_maps else 0)
            + struct.pack(">IIII", self.text_encoding, self.user_version, self.incremental_vacuum, self.application_id)
            + bytes(28)
        )


def settings_of(data: bytes) -> Settings:
    """Of a whole compact copy."""
    settings = settings_of_any(data)
    pages, first_free, free = struct.unpack(">III", data[28:40])
    if len(data) != pages * settings.page_size:
        raise NoCanonicalForm("a file that has not as many pages as it says")
    if first_free or free:
        raise NoCanonicalForm("free pages")
    return settings


def settings_of_any(data: bytes) -> Settings:
    """Of a file that may have free pages."""
    if len(data) < HEADER_SIZE or data[:16] != b"SQLite format 3\0":
        raise NoCanonicalForm("no SQLite database")
    declared, writes, reads, reserved, highest, lowest, leaf = struct.unpack(">HBBBBBB", data[16:24])
    page_size = 65_536 if declared == 1 else declared
    if (writes, reads) != (1, 1) or (highest, lowest, leaf) != (64, 32, 32):
        raise NoCanonicalForm("no database in rollback-journal mode, or other payload fractions")
    schema_format, cache_size, highest_root = struct.unpack(">III", data[44:56])
    text_encoding, user_version, incremental, application = struct.unpack(">IIII", data[56:72])
    settings = Settings(
        page_size, reserved, schema_format, cache_size, highest_root != 0,
        text_encoding, user_version, incremental, application,
    )  # fmt: skip
    checked_settings(settings)
    return settings


def checked_settings(settings: Settings) -> None:
    size = settings.page_size
    if not 512 <= size <= 65_536 or size & (size - 1) or settings.reserved > 255 or size - settings.reserved < 480:
        raise NoCanonicalForm("a page size that cannot be")
    if settings.schema_format > 4 or settings.text_encoding > 3:
        raise NoCanonicalForm("a schema format or a text encoding that cannot be")
