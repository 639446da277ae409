"""Heads and catalogs (PUBLISHED.md 2 and 3). Everything that a vector may want to be wrong is an argument."""

from __future__ import annotations

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
SIGNATURE = 64


def content(
    certificate: bytes, json: Pieces, shipments: Sequence[bytes] = (), certificate_size: int | None = None, json_size: int | None = None,
    signatures: bytes | None = None, signatures_size: int | None = None,
) -> Pieces:  # fmt: skip
    """What a head has in its stream; each of the shipments has its signature before its frames."""
    values = b"".join(shipment[:SIGNATURE] for shipment in shipments) if signatures is None else signatures
    sizes = [
        len(certificate) if certificate_size is None else certificate_size, len(values) if signatures_size is None else signatures_size,
        len(joined(json)) if json_size is None else json_size,
    ]  # fmt: skip
    return [
        Piece(struct.pack(">I", sizes[0]), f"size {sizes[0]}"), *binary(certificate, "the certificate"),
        Piece(struct.pack(">I", sizes[1]), f"size {sizes[1]}"), *binary(values, "signatures"),
        Piece(struct.pack(">I", sizes[2]), f"size {sizes[2]}"), *json, *binary(b"".join(shipment[SIGNATURE:] for shipment in shipments), "frames"),
    ]  # fmt: skip


def signed_content(content: bytes, publisher: bytes, domain: bytes = DOMAIN) -> bytes:
    return domain + publisher + len(content).to_bytes(8, "big") + content


def value(device: Device, content: bytes, domain: bytes = DOMAIN) -> bytes:
    return b"".join(part.to_bytes(32, "big") for part in device.signed(signed_content(content, device.id, domain)))


def head(value: bytes, stream: Pieces, magic: bytes = MAGIC, version: int = 1) -> Pieces:
    return [
        Piece(magic, "magic" + ("" if magic == MAGIC else ", wrong")), Piece(bytes([version]), f"version {version}"),
        *binary(value[:32], "r"), *binary(value[32:], "s"), *stream,
    ]  # fmt: skip


def stored(pieces: Pieces) -> Pieces:
    """A stream that can be read: in stored blocks, each piece as it is."""
    rest, found = joined(pieces), []
    if len(rest) <= LONGEST_STORED_BLOCK:
        return [block_header(len(rest), True), *pieces]
    while rest:
        block, rest = rest[:LONGEST_STORED_BLOCK], rest[LONGEST_STORED_BLOCK:]
        found += [block_header(len(block), not rest), Piece(block, is_text=True)]
    return found


def block_header(size: int, is_last: bool) -> Piece:
    last = "the last one" if is_last else "more to come"
    return Piece(bytes([int(is_last)]) + struct.pack("<HH", size, size ^ 0xFFFF), f"a stored block of {size} bytes, {last}")


def dictionary() -> bytes:
    """PUBLISHED.md 2: what the window of a stream holds before its first byte."""
    words = (Path(__file__).resolve().parent.parent / "publication-dictionary.txt").read_text(encoding="ascii")
    return message_dictionary() + b"".join(line.encode() if set(line) - set("0123456789abcdef") else bytes.fromhex(line) for line in words.split("\n"))


def deflated(data: bytes) -> Pieces:
    stream = DeflateStream().fixed(matched(data, dictionary())).finished()
    return binary(stream, f"{len(stream)} bytes of deflate")
