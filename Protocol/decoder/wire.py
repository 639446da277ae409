"""Section 3: reads preambles, frames, parts and blocks."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from decoder.refused import Refused

MAGIC = bytes([0x89, 0x53, 0x48, 0x49, 0x50, 0x0D, 0x0A, 0x1A])
PREAMBLE_SIZE = 16
OUR_VERSION = 1
HELLO, MANIFEST, ANSWER, PART, DATA, END, RECEIPT, REFUSAL, CANCEL, SIGNATURE, COMPARE, RANGES = range(1, 13)
WORKING, STAY, ASKABLE, QUESTION, NEWEST = 0x81, 0x83, 0x84, 0x85, 0x86
LIMITS = {
    HELLO: 262145, MANIFEST: 4194305, ANSWER: 262145, PART: 14, DATA: 4195329, END: 0,
    RECEIPT: 262145, REFUSAL: 262144, CANCEL: 262144, SIGNATURE: 4160, COMPARE: 1048576, RANGES: 1048576, WORKING: 0, STAY: 4,
    ASKABLE: 0, QUESTION: 136, NEWEST: 24,
}  # fmt: skip
OPTIONAL_LIMIT = 65536
MANIFEST_SIZE, MESSAGE_SIZE = 4194304, 262144
BLOCKS, COLUMNS, DELTA = 1, 2, 3
ENCODINGS = {"blocks": BLOCKS, "columns": COLUMNS, "delta": DELTA}
PART_FIELDS = 14
BLOCK_FIELDS = 5
LARGEST_DECODED, LARGEST_ENCODED = 1048576, 1049600
WINDOW = 32768


def violation(why: str) -> Refused:
    return Refused("protocol-violation", why)


@dataclass(frozen=True)
class Preamble:
    version: int
    lowest: int
    role: str
    mode: str
    session_version: int


@dataclass(frozen=True)
class Frame:
    type: int
    payload: bytes

    @property
    def is_known(self) -> bool:
        return self.type in LIMITS


class Reader:
    """All bytes of one side, read from first to last."""

    def __init__(self, data: bytes) -> None:
        self._rest = data

    @property
    def is_at_end(self) -> bool:
        return not self._rest

    def append(self, data: bytes) -> None:
        self._rest += data

    def _take(self, count: int) -> bytes:
        if len(self._rest) < count:
            raise violation("ends early")
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken

    def preamble(self, reader: str) -> Preamble:
        """`reader` is the side that reads: the other one must have sent this."""
        start = self._rest[: len(MAGIC)]
        if start != MAGIC[: len(start)]:
            raise violation("another magic")
        data = self._take(PREAMBLE_SIZE)
        if zlib.crc32(data[:12]).to_bytes(4, "big") != data[12:]:
            raise Refused("damaged", "CRC-32 of the preamble")
        version, lowest = data[8], data[9]
        if lowest == 0 or lowest > version:
            raise violation("no range of versions")
        role = {1: "producer", 2: "consumer"}.get(data[10])
        mode = {1: "one-way", 2: "two-way"}.get(data[11])
        if role is None or mode is None or role == reader or (role, mode) == ("consumer", "one-way"):
            raise violation("role or mode")
        session = version if mode == "one-way" else min(version, OUR_VERSION)
        if not lowest <= session <= version or session != OUR_VERSION:
            raise Refused("version-not-supported", f"{lowest} to {version}")
        return Preamble(version, lowest, role, mode, session)

    def header(self) -> tuple[int, int]:
        data = self._take(5)
        kind, length = data[0], int.from_bytes(data[1:], "big")
        if kind < 0x80 and kind not in LIMITS:
            raise Refused("unknown-frame", f"0x{kind:02X}")
        if length > LIMITS.get(kind, OPTIONAL_LIMIT):
            raise violation("payload too long")
        return kind, length

    def frame(self) -> Frame:
        kind, length = self.header()
        payload, checksum = self._take(length), self._take(4)
        covered = bytes([kind]) + length.to_bytes(4, "big") + payload
        if zlib.crc32(covered).to_bytes(4, "big") != checksum:
            raise Refused("damaged", "CRC-32 of a frame")
        return Frame(kind, payload)


@dataclass(frozen=True)
class Opening:
    """The payload of PART."""

    encoding: int
    anew: bool
    part: int
    position: int


def opening(payload: bytes) -> Opening:
    if len(payload) != PART_FIELDS:
        raise violation("no PART is as long")
    if payload[1] > 1:
        raise violation("flags that mean nothing")
    numbers = int.from_bytes(payload[2:6], "big"), int.from_bytes(payload[6:14], "big")
    return Opening(payload[0], payload[1] == 1, *numbers)


def content_of(payload: bytes) -> tuple[bytes, bool]:
    """What DATA carries, and whether it is the last one."""
    if len(payload) < 2:
        raise violation("DATA without data")
    if payload[0] > 1:
        raise violation("flags that mean nothing")
    return payload[1:], payload[0] == 1


@dataclass(frozen=True)
class Block:
    form: int
    size: int
    encoded: bytes


def block(data: bytes, is_last: bool, offset: int, part_size: int) -> Block:
    """What may come at `offset` of a part; whether it decodes is another question."""
    form, size, encoded = data[:1], int.from_bytes(data[1:5], "big"), data[BLOCK_FIELDS:]
    if not 1 <= len(encoded) <= LARGEST_ENCODED:
        raise violation("no encoded bytes, or too many")
    if form not in (b"\0", b"\1", b"\2"):
        raise violation("a form that is none")
    if not 1 <= size <= LARGEST_DECODED:
        raise violation("decoded size")
    if offset + size > part_size or is_last != (offset + size == part_size):
        raise violation("the part and its last block do not end together")
    if form == b"\2" and offset == 0:
        raise violation("a window in the first block")
    return Block(form[0], size, encoded)


def decoded(found: Block, before: bytes) -> bytes:
    """`before` is the part up to the block, or as much of it as a window can hold."""
    if found.form == 0:
        return checked(found.encoded, found.size)
    return inflated(found.encoded, found.size, before[-WINDOW:] if found.form == 2 else None)


def checked(content: bytes, size: int) -> bytes:
    if len(content) != size:
        raise Refused("damaged", "decoded size")
    return content


def inflated(stream: bytes, size: int, dictionary: bytes | None) -> bytes:
    has_dictionary = len(stream) > 1 and stream[1] & 0x20 != 0
    if has_dictionary != (dictionary is not None):
        raise Refused("damaged", "FDICT")
    try:
        decoder = zlib.decompressobj() if dictionary is None else zlib.decompressobj(zdict=dictionary)
        content = decoder.decompress(stream, size + 1)
    except zlib.error as error:
        raise Refused("damaged", str(error)) from error
    if not decoder.eof or decoder.unused_data:
        raise Refused("damaged", "the zlib stream does not end with the block")
    return checked(content, size)


NOTHING: Mapping[bytes, bytes] = MappingProxyType({})
DICTIONARY = (Path(__file__).resolve().parent.parent / "message-dictionary.txt").read_bytes().replace(b"\n", b"")


def unpacked_manifest(payload: bytes, held: Mapping[bytes, bytes] = NOTHING) -> bytes:
    """Section 3.5: the JSON in the payload of MANIFEST; `held` are the contents that the consumer has named, by their ids."""
    if payload[:1] != b"\2":
        return unpacked(payload, MANIFEST_SIZE)
    base = held.get(payload[1:17])
    if base is None:
        raise Refused("bad-manifest", "it differs from what is not held")
    return inflated_json(payload[17:], MANIFEST_SIZE, (DICTIONARY + base)[-WINDOW:])


def unpacked_answer(payload: bytes, answered: bytes | None = None) -> bytes:
    """The JSON in the payload of ANSWER and RECEIPT; `answered` is the content that the manifest differs from, if it does, and then its own."""
    if payload[:1] != b"\3":
        return unpacked(payload)
    if answered is None:
        raise Refused("bad-manifest", "an answer to nothing")
    return inflated_json(payload[1:], MESSAGE_SIZE, (DICTIONARY + answered)[-WINDOW:])


def unpacked(payload: bytes, limit: int = MESSAGE_SIZE) -> bytes:
    """The JSON in a payload that refers to nothing but the dictionary."""
    how, content = payload[:1], payload[1:]
    if how == b"\0":
        return content
    if how != b"\1":
        raise Refused("bad-manifest", "packed in no known way")
    return inflated_json(content, limit, DICTIONARY)


def inflated_json(stream: bytes, limit: int, window: bytes) -> bytes:
    decoder = zlib.decompressobj(-15, zdict=window)
    try:
        json = decoder.decompress(stream, limit + 1)
    except zlib.error as error:
        raise Refused("damaged", str(error)) from error
    if len(json) > limit:
        raise violation("the JSON inflates to too much")
    if not decoder.eof or decoder.unused_data:
        raise Refused("damaged", "the stream does not end with the payload")
    return json
