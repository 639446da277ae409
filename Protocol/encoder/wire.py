"""The bytes of section 3: preamble, frames and blocks.

Everything that a vector may want to be wrong is an argument; lengths and checksums are right unless told otherwise.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

from encoder.piece import Pieces, Piece, binary, document, joined

MAGIC = b"\x89SHIP\r\n\x1a"
PRODUCER, CONSUMER = 1, 2
ONE_WAY, TWO_WAY = 1, 2

HELLO, MANIFEST, ACCEPT, BLOCK, END, RECEIPT, REFUSAL, CANCEL = range(1, 9)
WORKING = 0x81
NAMES = {
    HELLO: "HELLO", MANIFEST: "MANIFEST", ACCEPT: "ACCEPT", BLOCK: "BLOCK", END: "END",
    RECEIPT: "RECEIPT", REFUSAL: "REFUSAL", CANCEL: "CANCEL", WORKING: "WORKING",
}  # fmt: skip
LIMITS = {
    HELLO: 262_144, MANIFEST: 4_194_304, ACCEPT: 262_144, BLOCK: 1_049_617, END: 0,
    RECEIPT: 262_144, REFUSAL: 262_144, CANCEL: 262_144, WORKING: 0,
}  # fmt: skip
UNKNOWN_OPTIONAL_LIMIT = 65_536

STORED, ZLIB, ZLIB_WINDOW, SQLITE_COLUMNS, DELTA = 0, 1, 2, 16, 32
ENCODING_NAMES = {
    STORED: "stored", ZLIB: "zlib", ZLIB_WINDOW: "zlib-window",
    SQLITE_COLUMNS: "sqlite-columns", DELTA: "delta",
}  # fmt: skip
BLOCK_LIMIT = 1_048_576
ENCODED_LIMIT = 1_049_600
WINDOW = 32_768


def checksum(pieces: Pieces, flip: int) -> Piece:
    value = zlib.crc32(joined(pieces)) ^ flip
    return Piece(struct.pack(">I", value), "CRC-32" + (", wrong" if flip else ""))


def preamble(
    version: int = 1,
    lowest: int = 1,
    role: int = PRODUCER,
    mode: int = TWO_WAY,
    magic: bytes = MAGIC,
    flip: int = 0,
) -> Pieces:
    roles = {PRODUCER: "producer", CONSUMER: "consumer"}
    modes = {ONE_WAY: "one-way", TWO_WAY: "two-way"}
    fields = [
        Piece(magic, "magic" + ("" if magic == MAGIC else ", wrong")),
        Piece(bytes([version]), f"version {version}"),
        Piece(bytes([lowest]), f"lowest version {lowest}"),
        Piece(bytes([role]), f"role: {roles.get(role, 'none')}"),
        Piece(bytes([mode]), f"mode: {modes.get(mode, 'none')}"),
    ]
    return [*fields, checksum(fields, flip)]


def header(kind: int, length: int) -> Pieces:
    name = NAMES.get(kind, f"frame 0x{kind:02X}")
    return [Piece(bytes([kind]), name), Piece(struct.pack(">I", length), f"length {length}")]


def frame(kind: int, payload: Pieces | None = None, flip: int = 0) -> Pieces:
    payload = payload or []
    covered = header(kind, len(joined(payload))) + payload
    return [*covered, checksum(covered, flip)]


def message(kind: int, members: dict[str, Any], flip: int = 0) -> Pieces:
    return frame(kind, document(members), flip)


def block(part: int, offset: int, decoded_size: int, encoding: int, encoded: bytes) -> Pieces:
    """The payload of a BLOCK frame."""
    name = ENCODING_NAMES.get(encoding, "unknown")
    return [
        Piece(struct.pack(">I", part), f"part {part}"),
        Piece(struct.pack(">Q", offset), f"offset {offset}"),
        Piece(struct.pack(">I", decoded_size), f"decoded size {decoded_size}"),
        Piece(bytes([encoding]), f"encoding {encoding}: {name}"),
        *binary(encoded, f"{len(encoded)} encoded bytes"),
    ]
