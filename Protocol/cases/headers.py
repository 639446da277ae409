"""The five bytes before a payload (section 3.2), at each type's limit and above it: no payload is needed for that."""

from __future__ import annotations

from collections.abc import Iterator

from encoder.piece import binary, joined
from encoder.vector import Vector
from encoder.wire import ANSWER, DATA, LIMITS, NAMES, UNKNOWN_OPTIONAL_LIMIT, header


def one(name: str, about: str, kind: int, length: int, error: str | None = None) -> Vector:
    details = [] if error else [("value.type", f"0x{kind:02X}"), ("value.length", str(length))]
    return Vector(f"header_{name}", about, "3.2", "header", error, details, [("", header(kind, length))])


def vectors() -> Iterator[Vector]:
    for kind, limit in LIMITS.items():
        name = NAMES[kind].lower()
        yield one(f"{name}_at_limit", f"The longest payload of {NAMES[kind]}", kind, limit)
        yield one(f"{name}_over_limit", f"One byte more than {NAMES[kind]} may have", kind, limit + 1, "protocol-violation")
    for kind in (0x80, 0xFF):
        limit = UNKNOWN_OPTIONAL_LIMIT
        yield one(f"{kind:02x}_at_limit", "The longest payload of an optional frame that is not known", kind, limit)
        yield one(f"{kind:02x}_over_limit", "One byte too many for an optional frame that is not known", kind, limit + 1, "protocol-violation")
    yield one("data_4_gib", "The longest length that can be said: nothing may be allocated for it", DATA, 0xFFFF_FFFF, "protocol-violation")
    yield one("little_endian", "Length 2 in the wrong byte order", ANSWER, 0x0200_0000, "protocol-violation")
    for kind in (0x0D, 0x40, 0x7F):
        yield one(f"{kind:02x}", "A required frame that is not known", kind, 0, "unknown-frame")
    yield one("7f_long", "A required frame that is not known is refused by its type, whatever its length", 0x7F, 0xFFFF_FFFF, "unknown-frame")
    yield one("00", "Type 0 is never used", 0x00, 0, "unknown-frame")
    cut = binary(joined(header(DATA, 18))[:3], "DATA, cut in the length")
    yield Vector("header_cut", "The link ends inside a header", "3.2", "header", "protocol-violation", [], [("", cut)])
