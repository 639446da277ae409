"""PUBLISHED.md 2: a shipment as it stands in a head or in a bundle, and as a file has it."""

from __future__ import annotations

import json
import zlib
from typing import Any

from decoder import json_rules as rules
from decoder.json_rules import no
from decoder.refused import Refused
from decoder.signature import VALUE_SIZE
from decoder.wire import MAGIC, MANIFEST, SIGNATURE, Reader

START = MAGIC + bytes([1, 1, 1, 1])
"""The preamble: versions, producer, one-way."""
HEADER = 5
DIFFERENCES = 4


def whole(short: bytes, signature: bytes | None, certificate: bytes, base: bytes | None, start: str | None) -> bytes:
    """`base` is the content that is held, and `start` the id of the one where the step begins."""
    found = checked(START)
    if signature is not None:
        found += checked(header(SIGNATURE, VALUE_SIZE + len(certificate)) + signature + certificate)
    rest, is_first = short, True
    while rest:
        try:
            kind, length = Reader(rest).header()
        except Refused as refused:
            raise no(f"no frame: {refused}") from refused
        frame, rest = rest[: HEADER + length], rest[HEADER + length :]
        if len(frame) != HEADER + length:
            raise no("cut off")
        if kind == MANIFEST:
            if not is_first:
                raise no("a manifest behind other frames")
            payload = manifest(frame[HEADER:], base, start)
            frame = header(MANIFEST, len(payload)) + payload
        found, is_first = found + checked(frame), False
    return found


def manifest(payload: bytes, base: bytes | None, start: str | None) -> bytes:
    if payload[:1] != bytes([DIFFERENCES]):
        return payload
    if base is None or rules.content_id(base).hex() != start:
        raise no("it begins at another content")
    differences = rules.parsed(payload[1:])
    if has_none(differences):
        raise no("null")
    known = json.loads(base)
    known["base"] = {"sha256": known["store"]["sha256"]}
    return b"\0" + json.dumps(changed(known, differences), ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def changed(known: Any, differences: Any) -> Any:
    if not isinstance(known, dict) or not isinstance(differences, dict):
        return differences
    return known | {name: changed(known.get(name), value) for name, value in differences.items()}


def has_none(value: Any) -> bool:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(has_none(member) for member in members)


def header(kind: int, length: int) -> bytes:
    return bytes([kind]) + length.to_bytes(4, "big")


def checked(data: bytes) -> bytes:
    return data + zlib.crc32(data).to_bytes(4, "big")
