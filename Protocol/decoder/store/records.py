"""Varints and records: FF 1.6 and 2.1, and section 2 of `CANONICAL.md`.

A value is None, an int, a `Real`, a `Text`, or bytes (a blob).
"""

from __future__ import annotations

from decoder.store.no_canonical_form import NoCanonicalForm


class Real(bytes):
    """The 8 bytes of a number in IEEE 754 binary64: whatever they say, they stay as they are."""


class Text(bytes):
    """The bytes of a text, in the encoding of the store, valid or not."""


Value = None | int | Real | Text | bytes
INTEGER_SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def varint(value: int) -> bytes:
    """Of the fewest bytes; negative numbers in two's complement of 64 bits."""
    value &= 2**64 - 1
    if value >> 56:
        high = value >> 8
        return bytes([high >> 7 * place & 0x7F | 0x80 for place in range(7, -1, -1)] + [value & 0xFF])
    found = [value & 0x7F]
    while value := value >> 7:
        found.insert(0, value & 0x7F | 0x80)
    return bytes(found)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number, unsigned, and the offset after it. IndexError where the data ends."""
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value << 8 | data[at + 8], at + 9


def signed(value: int) -> int:
    return value - 2**64 if value >> 63 else value


def parsed(record: bytes) -> list[Value]:
    try:
        header_size, at = read_varint(record, 0)
        types: list[int] = []
        while at < header_size:
            serial, at = read_varint(record, at)
            types.append(serial)
    except IndexError:
        raise NoCanonicalForm("a record whose header is cut") from None
    if at != header_size:
        raise NoCanonicalForm("a record whose header ends within a serial type, or is of size 0")
    values: list[Value] = []
    for serial in types:
        size = size_of(serial)
        body = record[at : at + size]
        if len(body) != size:
            raise NoCanonicalForm("a record that is shorter than its header says")
        values.append(value_of(serial, body))
        at += size
    if at != len(record):
        raise NoCanonicalForm("a record that is longer than its header says")
    return values


def size_of(serial: int) -> int:
    if serial >= 12:
        return (serial - 12) // 2
    if serial in (10, 11):
        raise NoCanonicalForm("a record with serial type 10 or 11")
    return 8 if serial == 7 else INTEGER_SIZES.get(serial, 0)


def value_of(serial: int, body: bytes) -> Value:
    if serial >= 12:
        return Text(body) if serial % 2 else body
    if serial == 0:
        return None
    if serial == 7:
        return Real(body)
    return serial - 8 if serial >= 8 else int.from_bytes(body, "big", signed=True)


def record(values: list[Value], schema_format: int) -> bytes:
    """The canonical record (section 2)."""
    types, bodies = bytearray(), bytearray()
    for value in values:
        serial, body = encoded(value, schema_format)
        types += varint(serial)
        bodies += body
    size = len(types) + 1
    while len(types) + len(varint(size)) != size:
        size += 1
    return varint(size) + bytes(types) + bytes(bodies)


def encoded(value: Value, schema_format: int) -> tuple[int, bytes]:
    if value is None:
        return 0, b""
    if isinstance(value, int):
        if value in (0, 1) and schema_format == 4:
            return 8 + value, b""
        for serial, size in INTEGER_SIZES.items():
            if -(1 << 8 * size - 1) <= value < 1 << 8 * size - 1:
                return serial, value.to_bytes(size, "big", signed=True)
        raise NoCanonicalForm("an integer of more than 64 bits")
    if isinstance(value, Real):
        return 7, value
    return (13 if isinstance(value, Text) else 12) + 2 * len(value), value
