"""Binary property lists that were taken apart."""

from __future__ import annotations

from decoder.segment.limits import OBJECTS, damaged

MARKER = b"bplist00"
COUNTED = (4, 5, 6, 10, 12, 13)


def property_list(objects: bytes, reference_size: int) -> bytes:
    """From its objects, back to back, with references that are told from each other."""
    if reference_size not in (1, 2) or len(objects) > OBJECTS:
        raise damaged("a property list that cannot be")
    written = bytearray(MARKER)
    offsets: list[int] = []
    at = 0
    while at < len(objects):
        start, at, references = parsed_object(objects, at)
        body = at + references * reference_size
        if body > len(objects):
            raise damaged("an object that is cut")
        written_at = len(written)
        written += objects[start:at]
        before = len(offsets) % 256**reference_size
        for place in range(at, body, reference_size):
            number = int.from_bytes(objects[place : place + reference_size], "big")
            before = (number + before + 1) % 256**reference_size
            written += before.to_bytes(reference_size, "big")
        offsets.append(written_at)
        at = body
    table = len(written)
    offset_size = 1 if table < 2**8 else 2 if table < 2**16 else 4
    written += b"".join(offset.to_bytes(offset_size, "big") for offset in offsets)
    return (
        bytes(written)
        + bytes(6)
        + bytes([offset_size, reference_size])
        + len(offsets).to_bytes(8, "big")
        + bytes(8)
        + table.to_bytes(8, "big")
    )


def parsed_object(objects: bytes, start: int) -> tuple[int, int, int]:
    """Where the object starts, where its body of bytes ends, and how many references follow."""
    kind, count = objects[start] >> 4, objects[start] & 15
    at = start + 1
    if count == 15 and kind in COUNTED:
        size = {0x10: 1, 0x11: 2, 0x12: 4}.get(objects[at] if at < len(objects) else 0)
        if size is None or at + 1 + size > len(objects):
            raise damaged("an object without its count")
        count = int.from_bytes(objects[at + 1 : at + 1 + size], "big")
        at += 1 + size
    if kind in (10, 12, 13):
        return start, at, 2 * count if kind == 13 else count
    sizes = {0: 0, 3: 8, 4: count, 5: count, 6: 2 * count, 8: count + 1}
    if kind in (1, 2) and count <= 4:
        sizes[kind] = 1 << count
    if kind not in sizes or at + sizes[kind] > len(objects):
        raise damaged("an object that there is not, or that is cut")
    return start, at + sizes[kind], 0
