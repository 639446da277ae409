"""Strings that hold runs of hexadecimal digits (`COLUMNS.md` section 2, tag 16)."""

from __future__ import annotations

import uuid

from decoder.segment.arrays import Inner
from decoder.segment.limits import FIELDS, damaged

UUIDS = 1
UUID_SIZE = 16


def digits(inner: Inner, count: int) -> list[bytes]:
    form, field_count = inner.byte(), inner.byte()
    if form > 1 or not 1 <= field_count <= FIELDS:
        raise damaged("digits of a case, or of fields, that there cannot be")
    kinds = [inner.byte() for _ in range(field_count)]
    if any(kind > UUIDS for kind in kinds):
        raise damaged("runs of a kind that there is not")
    rests = inner.strings(count)
    counts = [sum(rest.count(field) for rest in rests) for field in range(1, field_count + 1)]
    inner.puts_together(sum(map(len, rests)) - sum(counts))
    runs = [iter(inner.strings(each)) for each in counts]
    found: list[bytes] = []
    for rest in rests:
        string = bytearray()
        for byte in rest:
            if 1 <= byte <= field_count:
                run = spelled(next(runs[byte - 1]), kinds[byte - 1] == UUIDS)
                inner.puts_together(len(run))
                string += run if form else run.upper()
            else:
                string.append(byte)
        found.append(bytes(string))
    return found


def spelled(run: bytes, is_uuid: bool) -> bytes:
    if not is_uuid:
        return run.hex().encode()
    if len(run) != UUID_SIZE:
        raise damaged("a UUID of another size than 16 bytes")
    return str(uuid.UUID(bytes=run)).encode()
