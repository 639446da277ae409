"""Section 3.1, as a side that speaks version 1 alone reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from encoder.piece import Pieces, binary, joined
from encoder.vector import Vector
from encoder.wire import CONSUMER, MAGIC, ONE_WAY, PRODUCER, TWO_WAY, preamble


def good(name: str, about: str, reader: str = "consumer", **fields: Any) -> Vector:
    given = {"version": 1, "lowest": 1, "role": PRODUCER, "mode": TWO_WAY} | fields
    details = [
        ("reader", reader),
        ("value.version", str(given["version"])),
        ("value.lowestVersion", str(given["lowest"])),
        ("value.role", {PRODUCER: "producer", CONSUMER: "consumer"}[given["role"]]),
        ("value.mode", {ONE_WAY: "one-way", TWO_WAY: "two-way"}[given["mode"]]),
        ("session-version", "1"),
    ]
    return Vector(f"preamble_{name}", about, "3.1", "preamble", None, details, [("", preamble(**given))])


def bad(name: str, error: str, about: str, pieces: Pieces, reader: str = "consumer") -> Vector:
    return Vector(f"preamble_{name}", about, "3.1", "preamble", error, [("reader", reader)], [("", pieces)])


def vectors() -> Iterator[Vector]:
    yield good("one_way", "A producer in one-way mode", mode=ONE_WAY)
    yield good("two_way", "A producer in two-way mode")
    yield good("consumer", "A consumer; it always says two-way", reader="producer", role=CONSUMER)
    yield good("newer_producer", "A producer that speaks versions 1 to 3 in two-way mode: the session has version 1", version=3)
    yield good("newer_consumer", "A consumer that speaks versions 1 to 3: the session has version 1", reader="producer", role=CONSUMER, version=3)

    violation, version = "protocol-violation", "version-not-supported"
    yield bad("version_2_only", version, "A producer that speaks version 2 alone", preamble(2, 2))
    yield bad("versions_2_to_255", version, "A producer that speaks versions 2 to 255", preamble(255, 2))
    yield bad("one_way_version_3", version, "One-way, the session has the producer's version: 3, although it speaks 1 as well", preamble(3, 1, mode=ONE_WAY))
    yield bad("consumer_version_2_only", version, "A consumer that speaks version 2 alone", preamble(2, 2, CONSUMER), "producer")
    yield bad("version_0", violation, "Versions 0 to 0", preamble(0, 0))
    yield bad("lowest_0", violation, "Versions 0 to 1: the lowest is never 0", preamble(1, 0))
    yield bad("lowest_above_version", violation, "Versions 2 to 1: the lowest is above the highest", preamble(1, 2))
    yield bad("role_0", violation, "A role that is none", preamble(role=0))
    yield bad("role_3", violation, "A role that is none", preamble(role=3))
    yield bad("mode_0", violation, "A mode that is none", preamble(mode=0))
    yield bad("mode_3", violation, "A mode that is none", preamble(mode=3))
    yield bad("consumer_one_way", violation, "A consumer that says one-way", preamble(role=CONSUMER, mode=ONE_WAY), "producer")
    yield bad("two_producers", violation, "A producer meets a producer", preamble(role=PRODUCER), "producer")
    yield bad("two_consumers", violation, "A consumer meets a consumer", preamble(role=CONSUMER))

    text_mode = {
        "magic_lf": ("CR LF became LF: the stream went through a text mode", MAGIC.replace(b"\r\n", b"\n")),
        "magic_crlf_twice": ("LF became CR LF: the stream went through a text mode", MAGIC.replace(b"\n", b"\r\n")),
        "magic_seven_bits": ("The high bit is gone", bytes([MAGIC[0] & 0x7F]) + MAGIC[1:]),
        "magic_utf8": ("The first byte was taken for Latin-1 and written as UTF-8", b"\xc2" + MAGIC),
        "magic_end_of_file": ("The stream ended at the end-of-file character", MAGIC[:-1]),
    }
    for name, (about, magic) in text_mode.items():
        pieces = preamble(mode=ONE_WAY, magic=MAGIC)
        rest = [] if name == "magic_end_of_file" else pieces[1:]
        yield bad(name, violation, about, [*binary(magic, "magic, damaged"), *rest])
    yield bad("http", violation, "Another protocol altogether: no need to wait for 16 bytes", binary(b"GET / HTTP/1.1\r\n", "GET / HTTP/1.1"))
    yield bad("crc", "damaged", "A wrong CRC-32", preamble(flip=1))
    yield bad("bit_in_version", "damaged", "A bit of the version is turned over after the CRC-32 was made", damaged_version())
    yield bad("none", violation, "The link ends before the first byte", [])
    yield bad("cut_in_magic", violation, "The link ends after 5 bytes of the magic", binary(MAGIC[:5], "magic, cut"))
    yield bad("cut_in_crc", violation, "The link ends one byte before the end of the preamble", binary(joined(preamble())[:15], "preamble, cut"))


def damaged_version() -> Pieces:
    right, wrong = preamble(), preamble(3)
    return [right[0], wrong[1], *right[2:]]
