"""Heads and catalogs (PUBLISHED.md 2 and 3). Everything that a vector may want to be wrong is an argument."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from pathlib import Path

from encoder.deflate import DeflateStream, matched
from encoder.device import Device
from encoder.piece import Piece, Pieces, binary, joined
from encoder.wire import message_dictionary

MAGIC = b"SHIPHEAD"
DOMAIN = b"ship-store publication head v1"
LARGEST_HEAD, LARGEST_CONTENT, LARGEST_CATALOG = 262_144, 1_048_576, 65_536
LONGEST_STORED_BLOCK = 65_535
MARK, AGAIN, FIRST_AGAIN, LAST_AGAIN, ITSELF = b'"', b"%", 0x31, 0xFF, b"&"
BROUGHT = {16: b"!", 32: b"#", 64: b"$"}
"""What stands after a mark for a string of the digits of so many bytes."""


def content(json: Pieces, shipments: Sequence[bytes] = (), json_size: int | None = None) -> Pieces:
    """What a head has in its stream."""
    size = len(joined(json)) if json_size is None else json_size
    return [Piece(struct.pack(">I", size), f"size {size}"), *json, *binary(b"".join(shipments), "frames")]


def signed_content(content: bytes, publisher: bytes, domain: bytes = DOMAIN) -> bytes:
    return domain + publisher + len(content).to_bytes(8, "big") + content


def value(device: Device, content: bytes, domain: bytes = DOMAIN) -> bytes:
    return b"".join(part.to_bytes(32, "big") for part in device.signed(signed_content(content, device.id, domain)))


def head(publisher: bytes, value: bytes, stream: Pieces, magic: bytes = MAGIC, version: int = 1) -> Pieces:
    return [
        Piece(magic, "magic" + ("" if magic == MAGIC else ", wrong")), Piece(bytes([version]), f"version {version}"),
        *binary(publisher, "the publisher's id"), *binary(value[:32], "r"), *binary(value[32:], "s"), *stream,
    ]  # fmt: skip


def stored(pieces: Pieces) -> Pieces:
    """A stream that can be read: in stored blocks, each piece as it is, and nothing that is brought."""
    escaped = [Piece(marks_escaped(piece.data, joined(pieces[index + 1 :])[:1]), piece.note, piece.is_text) for index, piece in enumerate(pieces)]
    return as_it_is(escaped)


def as_it_is(pieces: Pieces) -> Pieces:
    rest, found = joined(pieces), []
    if len(rest) <= LONGEST_STORED_BLOCK:
        return [block_header(len(rest), True), *pieces]
    while rest:
        block, rest = rest[:LONGEST_STORED_BLOCK], rest[LONGEST_STORED_BLOCK:]
        found += [block_header(len(block), not rest), Piece(block, is_text=True)]
    return found


def marks_escaped(data: bytes, following: bytes = b"") -> bytes:
    """A mark before a byte that would say something stands for itself."""
    return re.sub(rb'"(?=[!#$%&])', MARK + ITSELF, data + following)[: None if not following else -1]


def brought(content: bytes) -> tuple[bytes, bytes]:
    """The content without its strings of digits, and the bytes of these."""
    text, values, end = b"", b"", 0
    known: list[bytes] = []
    for found in re.finditer(rb'"((?:[0-9a-f]{32}){1,2}|[0-9a-f]{128})"', content):
        digits = bytes.fromhex(found.group(1).decode())
        text += marks_escaped(content[end : found.start()], MARK) + MARK
        before = FIRST_AGAIN + known[::-1].index(digits) if digits in known else LAST_AGAIN + 1
        text += AGAIN + bytes([before]) if before <= LAST_AGAIN else BROUGHT[len(digits)]
        values += digits if before > LAST_AGAIN else b""
        known.append(digits)
        end = found.end()
    return text + marks_escaped(content[end:]), values


def block_header(size: int, is_last: bool) -> Piece:
    last = "the last one" if is_last else "more to come"
    return Piece(bytes([int(is_last)]) + struct.pack("<HH", size, size ^ 0xFFFF), f"a stored block of {size} bytes, {last}")


def dictionary() -> bytes:
    """PUBLISHED.md 2: what the window of a stream holds before its first byte."""
    words = (Path(__file__).resolve().parent.parent / "publication-dictionary.txt").read_text(encoding="ascii")
    return message_dictionary() + b"".join(line.encode() if set(line) - set("0123456789abcdef") else bytes.fromhex(line) for line in words.split("\n"))


def deflated(data: bytes) -> Pieces:
    text, values = brought(data)
    stream = DeflateStream().fixed(matched(text, dictionary())).finished()
    return binary(stream, f"{len(stream)} bytes of deflate") + binary(values, "what it brings")
