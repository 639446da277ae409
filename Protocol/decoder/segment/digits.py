"""Strings that hold runs of digits (`COLUMNS.md` section 2, tag 12)."""

from __future__ import annotations

import uuid
from base64 import standard_b64encode, urlsafe_b64encode
from collections.abc import Callable

from decoder.segment.arrays import Inner
from decoder.segment.limits import DIGIT_FIELDS, damaged

UUIDS, BASE64, LINES, FORMS = 2, 4, 8, 12
UUID_SIZE = 16
LONGEST_ENDING = 16
FOR_URLS, WITHOUT_PADDING = 1, 2


def digits(inner: Inner, count: int) -> list[bytes]:
    field_count = inner.byte()
    if not 1 <= field_count <= DIGIT_FIELDS:
        raise damaged("fields of digits that there cannot be")
    spelled = [form(inner) for _ in range(field_count)]
    rests = inner.strings(count)
    counts = [sum(rest.count(field) for rest in rests) for field in range(1, field_count + 1)]
    inner.puts_together(sum(map(len, rests)) - sum(counts))
    runs = [iter(inner.strings(each)) for each in counts]
    found: list[bytes] = []
    for rest in rests:
        string = bytearray()
        for byte in rest:
            if 1 <= byte <= field_count:
                run = spelled[byte - 1](next(runs[byte - 1]))
                inner.puts_together(len(run))
                string += run
            else:
                string.append(byte)
        found.append(bytes(string))
    return found


def form(inner: Inner) -> Callable[[bytes], bytes]:
    number = inner.byte()
    if number >= FORMS:
        raise damaged("runs of a form that there is not")
    if number < BASE64:
        as_lower = hexadecimal if number < UUIDS else identifier
        return as_lower if number % 2 else lambda run: as_lower(run).upper()
    if number < LINES:
        return lambda run: base64(run, number)
    length, size = inner.byte(), inner.byte()
    if not length or not 1 <= size <= LONGEST_ENDING:
        raise damaged("lines that there cannot be")
    ending = bytes(inner.byte() for _ in range(size))
    return lambda run: ending.join(lines(base64(run, number), length))


def hexadecimal(run: bytes) -> bytes:
    return run.hex().encode()


def identifier(run: bytes) -> bytes:
    if len(run) != UUID_SIZE:
        raise damaged("a UUID of another size than 16 bytes")
    return str(uuid.UUID(bytes=run)).encode()


def base64(run: bytes, number: int) -> bytes:
    encoded = urlsafe_b64encode(run) if number & FOR_URLS else standard_b64encode(run)
    return encoded.rstrip(b"=") if number & WITHOUT_PADDING else encoded


def lines(text: bytes, length: int) -> list[bytes]:
    return [text[place : place + length] for place in range(0, len(text), length)]
