"""The bytes of section 3: preamble, frames, parts and blocks.

Everything that a vector may want to be wrong is an argument; lengths and checksums are right unless told otherwise.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

from encoder.piece import Pieces, Piece, binary, document, joined

MAGIC = b"\x89SHIP\r\n\x1a"
PRODUCER, CONSUMER = 1, 2
ONE_WAY, TWO_WAY = 1, 2

HELLO, MANIFEST, ANSWER, PART, DATA, END, RECEIPT, REFUSAL, CANCEL, SIGNATURE, COMPARE, RANGES = range(1, 13)
WORKING, PADDING, STAY, ASKABLE, QUESTION, NEWEST = range(0x81, 0x87)
NAMES = {
    HELLO: "HELLO", MANIFEST: "MANIFEST", ANSWER: "ANSWER", PART: "PART", DATA: "DATA", END: "END",
    RECEIPT: "RECEIPT", REFUSAL: "REFUSAL", CANCEL: "CANCEL", SIGNATURE: "SIGNATURE", COMPARE: "COMPARE", RANGES: "RANGES", WORKING: "WORKING", PADDING: "PADDING",
    STAY: "STAY", ASKABLE: "ASKABLE", QUESTION: "QUESTION", NEWEST: "NEWEST",
}  # fmt: skip
LIMITS = {
    HELLO: 262_145, MANIFEST: 4_194_305, ANSWER: 262_145, PART: 14, DATA: 4_195_329, END: 0,
    RECEIPT: 262_145, REFUSAL: 262_144, CANCEL: 262_144, SIGNATURE: 4160, COMPARE: 1_048_576, RANGES: 1_048_576, WORKING: 0, STAY: 4,
    ASKABLE: 0, QUESTION: 136, NEWEST: 24,
}  # fmt: skip
PACKED = {HELLO, MANIFEST, ANSWER, RECEIPT}
"""Frames whose JSON is packed (section 3.5)."""
UNKNOWN_OPTIONAL_LIMIT = 65_536

BLOCKS, COLUMNS, DELTA = 1, 2, 3
ENCODING_NAMES = {BLOCKS: "blocks", COLUMNS: "columns", DELTA: "delta"}
STORED, ZLIB, ZLIB_WINDOW = 0, 1, 2
FORM_NAMES = {STORED: "stored", ZLIB: "zlib", ZLIB_WINDOW: "zlib with a window"}
MANIFEST_LIMIT, MESSAGE_LIMIT = 4_194_304, 262_144
SEGMENT_LIMIT = 4_195_328
SEGMENTS_OVERHEAD = 1_048_576
PADDING_STEP = 4096
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


def padded(following: Pieces) -> Pieces:
    """With a PADDING before it that makes both a multiple of 4,096 bytes (section 3.7)."""
    own = len(joined(frame(PADDING)))
    count = -(len(joined(following)) + own) % PADDING_STEP
    if (len(joined(following)) % PADDING_STEP) == 0:
        return following
    return [*frame(PADDING, binary(bytes(count), "zeros")), *following]


def message(kind: int, members: dict[str, Any], flip: int = 0) -> Pieces:
    return frame(kind, payload_of(kind, document(members)), flip)


def payload_of(kind: int, json: Pieces) -> Pieces:
    return stored_json(json) if kind in PACKED else json


def stored_json(json: Pieces) -> Pieces:
    """A packed payload, readable."""
    return [Piece(b"\0", "stored"), *json]


def message_dictionary() -> bytes:
    """Section 3.5: data of the protocol itself, which each side has."""
    path = Path(__file__).resolve().parent.parent / "message-dictionary.txt"
    return path.read_bytes().replace(b"\n", b"")


def deflated_json(stream: bytes) -> Pieces:
    return [Piece(b"\1", "deflate"), *binary(stream, f"{len(stream)} bytes of deflate")]


def difference_json(base: bytes, stream: bytes) -> Pieces:
    """`base`: the first 16 bytes of the SHA-256 of the content that is referred to."""
    return [Piece(b"\2", "difference"), *binary(base, "id of the base"), *binary(stream, f"{len(stream)} bytes of deflate")]


def answer_json(stream: bytes) -> Pieces:
    return [Piece(b"\3", "answer"), *binary(stream, f"{len(stream)} bytes of deflate")]


def part(
    index: int, encoding: int = BLOCKS, anew: bool = False, position: int = 0, flags: int | None = None
) -> Pieces:
    """The payload of PART."""
    flags = int(anew) if flags is None else flags
    return [
        Piece(bytes([encoding]), f"encoding {encoding}: {ENCODING_NAMES.get(encoding, 'unknown')}"),
        Piece(bytes([flags]), {0: "flags: none", 1: "flags: anew"}.get(flags, "flags that mean nothing")),
        Piece(struct.pack(">I", index), f"part {index}"),
        Piece(struct.pack(">Q", position), f"position {position}"),
    ]


def data(content: Pieces, is_last: bool = True, flags: int | None = None) -> Pieces:
    """The payload of DATA."""
    flags = int(is_last) if flags is None else flags
    note = {0: "flags: more to come", 1: "flags: the last one"}.get(flags, "flags that mean nothing")
    return [Piece(bytes([flags]), note), *content]


def signature(value: bytes, certificate: bytes) -> Pieces:
    """The payload of SIGNATURE."""
    return [
        *binary(value[:32], "r"), *binary(value[32:], "s"), *binary(certificate, f"a certificate of {len(certificate)} bytes"),
    ]  # fmt: skip


def block(decoded_size: int, form: int, encoded: bytes) -> Pieces:
    """The data of one DATA of a part in `blocks`."""
    return [
        Piece(bytes([form]), f"form {form}: {FORM_NAMES.get(form, 'unknown')}"),
        Piece(struct.pack(">I", decoded_size), f"decoded size {decoded_size}"),
        *binary(encoded, f"{len(encoded)} encoded bytes"),
    ]
